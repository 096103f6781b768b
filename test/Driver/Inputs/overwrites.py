"""Runs that would write over their inputs or twice to one file; then two that would not."""
import os
import subprocess
import sys

BAD = [
    "s.tile -o s.tile",
    "s.tile --emit-header=./s.tile",
    "s.tile -MD -MF s.tile",
    "s.tile --emit-asm=s.tile --arch=x86-64-v3",
    "s.tile -o hard",
    "s.tile -o soft",
    "s.tile -o here/s.tile",
    "s.tile -o same --emit-header=here/same",
    "s.tile --emit-ast=- --emit-ir-tile=-",
    "p1/a.tile p2/a.tile",
    "user.tile -o helpers.tile",
    "broken.tile -o helpers.tile",
]
GOOD = ["s.tile --arch=x86-64-v3 -o /dev/null --emit-header=/dev/null", "s.tile s.tile --list-kernels"]


def contents():
    return {name: open(name, "rb").read() for name in sorted(os.listdir(".")) if os.path.isfile(name)}


def run(flags):
    done = subprocess.run([sys.argv[1], *flags.split()], capture_output=True, text=True)
    print(f"code {done.returncode}:", " ".join(done.stderr.split("\n")), flush=True)


before = contents()
for flags in BAD:
    run(flags)
if contents() == before:
    print("the folder is as it was")
for flags in GOOD:
    run(flags)
