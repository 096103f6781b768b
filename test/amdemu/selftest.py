"""Tests of the emulator itself: OpenCL kernels compiled by clang for each target, results against numpy.

usage: selftest.py [--target gfx942,..] [--suite NAME,..] [--only KERNEL,..] [--listing-check]

Every target runs the suites that its instructions allow. Ends with `ok: N kernels` or the failures; exit status 1 if any.
--listing-check runs the waitcnt checker over each compiled file as well.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

import cases
import decoder
import emulator
import waitcnt
from memory import EmulatorError

HERE = os.path.dirname(os.path.abspath(__file__))


def compile_kernels(source, target, out, flags=("-O2",)):
    """Builds a code object of an OpenCL file."""
    clang = [decoder.tool("clang"), "-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}", "-nogpulib",
             "-w", "-Xclang", "-finclude-default-header", *flags, source, "-c", "-o", out + ".o"]
    subprocess.run(clang, check=True)
    subprocess.run([decoder.tool("ld.lld"), "-shared", out + ".o", "-o", out], check=True)


def run_case(case, path):
    """Worst error of the case's outputs relative to max(1, |expected|), and the emulator's result."""
    arrays = [np.ascontiguousarray(a).copy() for a in case.arrays]
    args = arrays + list(case.scalars)
    result = emulator.run_kernel(path, case.kernel, case.grid, case.block, args)
    worst = 0.0
    for index, expected in case.expect.items():
        got = arrays[index].reshape(expected.shape)
        if got.dtype.kind in "iu":
            error = (got != expected).astype(float)
        else:
            got, expected = got.astype(np.float64) * case.scale, expected.astype(np.float64) * case.scale
            with np.errstate(invalid="ignore"):
                error = np.abs(got - expected) / np.maximum(1, np.abs(expected))
            same = (got == expected) | (np.isnan(got) & np.isnan(expected))
            error = np.where(same, 0, np.where(np.isnan(error), np.inf, error))
        worst = max(worst, float(error.max(initial=0)))
    return worst, result


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--target", default="gfx90a,gfx942")
    p.add_argument("--suite")
    p.add_argument("--only")
    p.add_argument("--listing-check", action="store_true")
    p.add_argument("--keep", help="folder for the compiled files")
    o = p.parse_args()
    failures, count = [], 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = o.keep or scratch
        os.makedirs(folder, exist_ok=True)
        for target in o.target.split(","):
            for suite in cases.suites(target):
                if o.suite and suite.name not in o.suite.split(","):
                    continue
                path = os.path.join(folder, f"{suite.name}.{target}.hsaco")
                compile_kernels(os.path.join(HERE, "Inputs", suite.source), target, path, suite.flags)
                if o.listing_check:
                    failures += [f"{suite.name} {target}: {v}" for v in waitcnt.check(*decoder.disassemble(path), target)]
                for case in suite.cases:
                    if o.only and case.kernel not in o.only.split(","):
                        continue
                    count += 1
                    start = time.perf_counter()
                    try:
                        worst, result = run_case(case, path)
                        wrong = [f"error {worst:.3g}, allowed {case.tolerance:.3g}"] if not worst <= case.tolerance else []
                        wrong += result.races[:1]
                    except EmulatorError as e:
                        wrong, worst, result = [str(e)], float("nan"), emulator.Result()
                    label = f"{target} {suite.name} {case.kernel}"
                    failures += [f"{label}: {w}" for w in wrong]
                    print(f"{label:40s} worst {worst:.3g}, {result.count} wave instructions, {time.perf_counter() - start:.2f} s",
                          flush=True)
    for f in failures:
        print("FAILED", f)
    print(f"{len(failures)} failures in {count} kernels" if failures else f"ok: {count} kernels")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
