"""Compiles samples for sm_80 and sm_89 and fails when ptxas spills a register of any kernel.

usage: spills.py TILEC gemm|samples [--all]

`gemm` takes tiles of samples/gemm: those of 128 x 256 or more in all forms (transposes), the smaller ones, which are far from
spilling, in two forms in float32 and one in 16 bits. BK, chips and the two 16-bit types take turns, since they change few
registers. --all: every point.
`samples` takes the others as CI uses them. What a chip has no room for (E0402, E0406) is counted and printed.
"""
import argparse
import concurrent.futures
import itertools
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "test", "harness"))
from build import variants  # noqa: E402

CHIPS = ["sm_80", "sm_89"]
STEPS = [32, 64]  # BK
NO_ROOM = {"E0402", "E0406"}


def gemm_points(everything):
    sizes = sorted(itertools.product((64, 128, 256), repeat=2), key=lambda tile: -tile[0] * tile[1])
    forms = list(itertools.product(("half", "float32"), ("False", "True"), ("False", "True")))
    if everything:
        for (bm, bn), bk, chip, ta, tb in itertools.product(sizes, STEPS, CHIPS, *[("False", "True")] * 2):
            for dtype in ("float16", "bfloat16", "float32"):
                yield chip, "gemm", flags(dtype, ta, tb, bm, bn, bk)
        return
    turn = 0
    for (t, (bm, bn)), (f, (kind, ta, tb)) in itertools.product(enumerate(sizes), enumerate(forms)):
        if bm * bn < 128 * 256 and (t + f) % (4 if kind == "half" else 2):
            continue
        dtype = ("float16", "bfloat16")[turn // 3 % 2] if kind == "half" else kind
        yield CHIPS[(turn + turn // 8) % 2], "gemm", flags(dtype, ta, tb, bm, bn, STEPS[turn // 2 % len(STEPS)])
        turn += 1


def flags(dtype, ta, tb, bm, bn, bk):
    return [f"-Ddt={dtype}", f"-Dtrans_a={ta}", f"-Dtrans_b={tb}", f"-DBM={bm}", f"-DBN={bn}", f"-DBK={bk}"]


def sample_points(everything):
    for sample in ("attention", "softmax", "elementwise", "sgemm"):
        for turn, (prefix, options) in enumerate(variants(sample, "sm_80")):
            if prefix.startswith("attention_bf16") and not everything:
                continue  # the code of float16
            # D = 128 is the nearest to the limit, on sm_80 with two stages, on sm_89 with one.
            for chip in CHIPS if everything or prefix.startswith("attention_f16_128") else [CHIPS[turn % 2]]:
                yield chip, sample, options


def compile_point(tilec, folder, number, point):
    """(point, codes of errors, [(kernel, spilled bytes)])"""
    chip, sample, options = point
    run = subprocess.run([tilec, os.path.join(ROOT, "samples", sample, sample + ".tile"), f"--arch={chip}", "-w", "-g0", "--resource-usage",
                          "-o", os.path.join(folder, f"{number}.o")] + options, stderr=subprocess.PIPE, text=True)
    kernels = re.findall(r"^\S+ (\S+): \d+ threads, \d+ registers, (\d+) bytes spilled", run.stderr, re.M)
    errors = set(re.findall(r"error\[(E\d+)\]", run.stderr))
    if run.returncode != (1 if errors else 0) or bool(kernels) == bool(errors) or errors - NO_ROOM:
        sys.exit(f"spills.py: {' '.join(run.args)}: exit code {run.returncode}\n{run.stderr}")
    return point, errors, [(kernel, int(spilled)) for kernel, spilled in kernels]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tilec")
    p.add_argument("what", choices=["gemm", "samples"])
    p.add_argument("--all", action="store_true")
    p.add_argument("--jobs", type=int, default=2)
    o = p.parse_args()
    points = list((gemm_points if o.what == "gemm" else sample_points)(o.all))
    refused, kernels, spills = [], 0, 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        for point, errors, usage in pool.map(lambda n: compile_point(o.tilec, folder, n, points[n]), range(len(points))):
            text = " ".join([point[0], point[1], *point[2]])
            if errors:
                refused.append(f"no room ({', '.join(sorted(errors))}): {text}")
            for kernel, spilled in usage:
                kernels += 1
                if spilled:
                    spills += 1
                    print(f"{spilled} bytes spilled: {kernel}: {text}")
    print(*refused, sep="\n")
    print(f"{len(points)} points, {len(refused)} without room, {kernels} kernels, {spills} spill")
    return 1 if spills else 0


if __name__ == "__main__":
    sys.exit(main())
