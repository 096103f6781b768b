"""Runs samples/gemm over a list of shapes and checks every element against float64.

usage: gemm.py LIBRARY (--shapes FILE [--largest N] | --name KERNEL --shape "M N K dtype transposes") [--seed S] [--device cpu|cuda] [--image ARCH] [--table]

LIBRARY is a shared object that holds the kernels gemm_<dtype>_<transposes>_matmul, as harness/build.py makes it.
Ends with one line `ok: N products` or with the failures; exit status 1 if there is any.
"""
import argparse
import sys
import time

import numpy as np

import arrays
import bounds
import rt

SHORT = {"float16": "f16", "bfloat16": "bf16", "float32": "f32"}


def read_shapes(path, largest):
    for line in open(path, encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            m, n, k, dtype, trans = line.split()
            if max(int(m), int(n), int(k)) <= largest:
                yield int(m), int(n), int(k), dtype, trans


def backend(device):
    if device == "cpu":
        return arrays.Array
    import torch_arrays
    return torch_arrays.TorchArray


def one(library, array, shape, make, rng, name):
    """Worst error over its bound, and seconds of the call."""
    m, n, k, dtype, trans = shape
    a = array((k, m) if trans[0] == "t" else (m, k), dtype).fill(make(rng, (k, m) if trans[0] == "t" else (m, k)))
    b = array((n, k) if trans[1] == "t" else (k, n), dtype).fill(make(rng, (n, k) if trans[1] == "t" else (k, n)))
    c = array((m, n), dtype).poison()
    kernel = library.kernel(name or f"gemm_{SHORT[dtype]}_{trans}_matmul")
    start = time.perf_counter()
    kernel(a, b, c)
    c.synchronize()
    seconds = time.perf_counter() - start
    x, y = a.values(), b.values()
    x, y = (x.T if trans[0] == "t" else x), (y.T if trans[1] == "t" else y)
    reference, magnitude = x @ y, np.abs(x) @ np.abs(y)
    limit = bounds.product(reference, magnitude, k, dtype)
    got = c.values()
    if dtype == "float16":
        # Beyond 65520 float16 rounds to an infinity; within the bound of that border either is right.
        over = np.abs(reference) - limit > 65520
        border = (np.abs(reference) + limit >= 65504) & ~over
        reference = np.where(over, np.copysign(np.inf, reference), np.where(border, got, reference))
    worst = bounds.worst(got, reference, limit)
    if not c.guards_intact():
        worst = float("inf")
    return worst, seconds


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("--shapes")
    p.add_argument("--shape")
    p.add_argument("--name")
    p.add_argument("--largest", type=int, default=10**9)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--device", default="cpu")
    p.add_argument("--image")
    p.add_argument("--table", action="store_true")
    o = p.parse_args()
    library = rt.Library(o.library)
    library.keep_log()
    if o.image:
        library.image_filter(o.image)
    array, failures, count = backend(o.device), [], 0
    print(f"seed {o.seed}")
    if o.shapes:
        shapes = read_shapes(o.shapes, o.largest)
    else:
        m, n, k, dtype, trans = o.shape.split()
        shapes = [(int(m), int(n), int(k), dtype, trans)]
    for shape in shapes:
        for make in (arrays.standard_normal, arrays.wide_range):
            rng = np.random.default_rng([o.seed, count])
            count += 1
            label = " ".join(map(str, shape)) + " " + make.__name__
            try:
                worst, seconds = one(library, array, shape, make, rng, o.name)
            except rt.TileError as e:
                failures.append(f"{label}: {e}")
                continue
            if worst > 1:
                failures.append(f"{label}: error is {worst:.3g} times its bound")
            if o.table:
                flops = 2 * shape[0] * shape[1] * shape[2]
                print(f"{label:44s} {worst:8.3f} of the bound {flops / max(seconds, 1e-9) / 1e9:10.1f} GFLOP/s")
    for f in failures:
        print("FAILED", f)
    print(f"{len(failures)} of {count} products wrong" if failures else f"ok: {count} products")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
