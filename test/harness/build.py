"""Compiles samples into one shared object for the harness.

usage: build.py TILEC OUT.so SAMPLE... --rt LIBTILE_RT.a [--arch LIST] [--only PREFIX,..] [--tilec-args ..]

SAMPLE is gemm, gemm-types (gemm on other element types), elementwise, softmax, attention, sgemm, epilogue, batched or int4; each
is built in all the variants that its tests use. batched-tiles, epilogue-tiles and int4-tiles: in the tiles that are timed.
"""
import argparse
import concurrent.futures
import itertools
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}
TYPES = {"e4m3": ["-Ddt=float8_e4m3"], "e5m2": ["-Ddt=float8_e5m2"], "i8": ["-Ddt=int8"], "u8": ["-Ddt=uint8"],
         "tf32": ["-Ddt=float32", "-Dprecision=tf32"]}
# Tiles of samples/int4 for so many rows.
INT4 = {1: "16x64x512", 4: "16x64x512", 16: "16x64x512", 32: "32x64x512", 64: "64x64x256", 128: "64x128x256"}


def variants(sample, arch):
    """(prefix, flags) of every object."""
    if sample == "gemm":
        for (short, dtype), ta, tb in itertools.product(DTYPES.items(), "nt", "nt"):
            flags = [f"-Ddt={dtype}", f"-Dtrans_a={ta == 't'}", f"-Dtrans_b={tb == 't'}"]
            if dtype == "float32":
                flags += ["-DBM=64", "-DBN=128", "-DBK=32"] if "gfx" in arch else ["-DBK=32"]
            yield f"gemm_{short}_{ta}{tb}", flags
    elif sample == "gemm-types":
        small = ["-DBM=64", "-DBN=64", "-DBK=64"] if "gfx" in arch else []  # 64 KiB of LDS
        for (short, flags), ta, tb in itertools.product(TYPES.items(), "nt", "nt"):
            yield f"gemm_{short}_{ta}{tb}", [*flags, f"-Dtrans_a={ta == 't'}", f"-Dtrans_b={tb == 't'}", *small]
    elif sample == "gemm-precise":
        for precision, ta, tb in itertools.product(("ieee", "bf16x6"), "nt", "nt"):
            yield f"gemm_{precision}_{ta}{tb}", ["-Ddt=float32", f"-Dprecision={precision}", f"-Dtrans_a={ta == 't'}", f"-Dtrans_b={tb == 't'}",
                                                 *(["-DBN=128", "-DBK=64"] if precision == "bf16x6" else [])]
    elif sample == "attention":
        for (short, dtype), d, causal in itertools.product(DTYPES.items(), (64, 128), (False, True)):
            flags = [f"-Ddt={dtype}", f"-DD={d}", f"-Dcausal={causal}"]
            if "gfx" in arch:      # 64 KiB of LDS
                flags += ["-DBM=32", "-DBN=32"] if dtype == "float32" else ["-DBM=64", "-DBN=64"]
            elif dtype == "float32":
                flags += ["-DBM=64", "-DBN=32"]
            yield f"attention_{short}_{d}{'_causal' if causal else ''}", flags
    elif sample in ("epilogue", "batched", "int4"):
        # Small tiles: their code is the same, and there is less of it.
        tiles = {"epilogue": ["-DBM=64", "-DBN=64", "-DBK=64"], "batched": ["-DBM=64", "-DBN=64", "-DBK=64"],
                 "int4": ["-Dmatmul_int4.BM=16", "-Dmatmul_int4.BN=64", "-Dmatmul_int4.BK=256", "-Dmatvec_int4.BN=4", "-Dmatvec_int4.BK=512",
                          "-Dstages=3"]}
        yield f"{sample}_f16", ["-Ddt=float16"] + tiles[sample]
    elif sample == "int4-tiles":
        for tile in sorted(set(INT4.values())):
            yield f"int4_{tile}", [f"-Dmatmul_int4.{name}={size}" for name, size in zip(("BM", "BN", "BK"), tile.split("x"))]
    elif sample in ("batched-tiles", "epilogue-tiles"):
        yield sample.split("-")[0] + "_auto", []
    elif sample == "sgemm":
        yield "sgemm", []
        yield "sgemm_4096", [f"-D{extent}=4096" for extent in "MNK"]
    else:
        for short, dtype in DTYPES.items():
            yield f"{sample}_{short}", [f"-Ddt={dtype}"]


def run(command):
    if subprocess.call(command):
        sys.exit(f"build.py: {' '.join(command)} failed")


def compile_command(tilec, sample, arch, prefix, flags, policy="fixed"):
    source = sample.split("-")[0]
    return [tilec, os.path.join(ROOT, "samples", source, source + ".tile"), f"--arch={arch}", f"--tile-policy={policy}",
            f"--symbol-prefix={prefix}"] + flags


def link(objects, rt, out):
    """A shared object that holds the kernels and the runtime."""
    run(["gcc", "-shared", "-Wl,-z,noexecstack", "-o", out] + objects +
        ["-Wl,--whole-archive", rt, "-Wl,--no-whole-archive", "-lpthread", "-ldl", "-lm"])


def build(tilec, out, samples, rt, arch="cpu", only=None, tilec_args=(), jobs=1, policy="fixed", keep=None):
    """`only`: prefixes to build, None for all of them. `jobs`: compilations at once. `policy`: who chooses the tiles.
    `keep`: a folder for the objects, PREFIX.o, and their headers."""
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        scratch = keep or temporary
        commands, objects = [], []
        for sample in samples:
            for prefix, flags in variants(sample, arch):
                if only and prefix not in only:
                    continue
                objects.append(os.path.join(scratch, prefix + ".o"))
                commands.append(compile_command(tilec, sample, arch, prefix, flags, policy)
                                + [f"--emit-obj={objects[-1]}", f"--emit-header={objects[-1][:-2]}.h", *tilec_args])
        for done in [pool.submit(run, c) for c in commands]:
            done.result()
        link(objects, rt, out)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tilec")
    p.add_argument("out")
    p.add_argument("samples", nargs="+")
    p.add_argument("--arch", default="cpu")
    p.add_argument("--rt", required=True)
    p.add_argument("--only", help="prefixes to build, comma-separated")
    p.add_argument("--tilec-args", nargs="*", default=[])
    o = p.parse_args()
    build(o.tilec, o.out, o.samples, o.rt, o.arch, o.only.split(",") if o.only else None, o.tilec_args)


if __name__ == "__main__":
    main()
