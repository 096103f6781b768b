"""Compiles samples into one shared object for the harness.

usage: build.py TILEC OUT.so SAMPLE... [--arch LIST] [--tilec-args ..] [--rt LIBTILE_RT.a]

SAMPLE is gemm, elementwise, softmax, attention or sgemm; each is built in all the variants that its tests use.
"""
import argparse
import itertools
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}


def variants(sample):
    """(prefix, flags) of every object."""
    if sample == "gemm":
        for (short, dtype), ta, tb in itertools.product(DTYPES.items(), "nt", "nt"):
            flags = [f"-Ddt={dtype}", f"-Dtrans_a={ta == 't'}", f"-Dtrans_b={tb == 't'}"]
            if dtype == "float32":
                flags += ["-DBM=64", "-DBN=128", "-DBK=32", "-Dstages=2"] if "gfx" in ARCH else ["-DBK=32"]
            yield f"gemm_{short}_{ta}{tb}", flags
    elif sample == "attention":
        for (short, dtype), d, causal in itertools.product(DTYPES.items(), (64, 128), (False, True)):
            flags = [f"-Ddt={dtype}", f"-DD={d}", f"-Dcausal={causal}"]
            if dtype == "float32":
                flags += ["-DBM=64", "-DBN=32"]
            yield f"attention_{short}_{d}{'_causal' if causal else ''}", flags
    elif sample == "sgemm":
        yield "sgemm", []
    else:
        for short, dtype in DTYPES.items():
            yield f"{sample}_{short}", [f"-Ddt={dtype}"]


def main():
    global ARCH
    p = argparse.ArgumentParser()
    p.add_argument("tilec")
    p.add_argument("out")
    p.add_argument("samples", nargs="+")
    p.add_argument("--arch", default="cpu")
    p.add_argument("--rt", required=True)
    p.add_argument("--only", help="prefixes to build, comma-separated")
    p.add_argument("--tilec-args", nargs="*", default=[])
    o = p.parse_args()
    ARCH = o.arch
    with tempfile.TemporaryDirectory() as scratch:
        objects = []
        for sample in o.samples:
            for prefix, flags in variants(sample):
                if o.only and prefix not in o.only.split(","):
                    continue
                objects.append(os.path.join(scratch, prefix + ".o"))
                command = [o.tilec, os.path.join(ROOT, "samples", sample, sample + ".tile"), f"--arch={o.arch}",
                           f"--symbol-prefix={prefix}", f"--emit-obj={objects[-1]}"] + flags + o.tilec_args
                if subprocess.call(command):
                    sys.exit(f"build.py: {' '.join(command)} failed")
        link = ["gcc", "-shared", "-Wl,-z,noexecstack", "-o", o.out] + objects
        link += ["-Wl,--whole-archive", o.rt, "-Wl,--no-whole-archive", "-lpthread", "-ldl", "-lm"]
        if subprocess.call(link):
            sys.exit("build.py: linking failed")


main()
