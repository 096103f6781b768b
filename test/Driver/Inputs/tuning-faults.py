"""Compiles matmul.tile with tuning files that are wrong, one after the other. usage: tuning-faults.py TILEC

The right hash is in the file `section`, a line of a tuning file."""
import subprocess
import sys

section = open("section", encoding="utf-8").read().strip()
head = "tile-tuning 1\n"
for text in ["", "M=64 : BM=64\n", "tile-tuning 2\n", head + "M=64 : BM=64\n", head + "kernel matmul sm_90a\n",
             head + "kernel matmul sm_9 " + "0" * 32 + "\n", head + "kernel matmul sm_90a 123\n",
             *(head + section + "\n" + line + "\n" for line in (
                 "M=64 N=64", "M : BM=64", "M=64 M=64 : BM=64", "M=x : BM=64", "Q=64 : BM=64", "M=64 : BM=3", "M=64 : BM=128"))]:
    with open("t.tuning", "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([sys.argv[1], "matmul.tile", "--arch=sm_90a", "-Wno-perf", "--tuning=t.tuning", "--emit-ir-tile=x.mlir"],
                          stderr=subprocess.PIPE, text=True)
    print(done.stderr.split("\n")[0])
    if done.returncode != 1:
        sys.exit(f"exit code {done.returncode} for {text!r}")
