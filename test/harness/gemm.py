"""Runs samples/gemm over a list of shapes and checks every element against float64.

usage: gemm.py LIBRARY (--shapes FILE [--largest N] | --name KERNEL --shape "M N K dtype transposes"..) [--kernels LIST] [--half 0|1] [--seed S] [--device cpu|cuda|torch|emulator]
               [--image ARCH] [--table]

LIBRARY is a shared object that holds the kernels gemm_<dtype>_<transposes>_matmul, as harness/build.py makes it. tf32 is float32
with precision="tf32"; products of fp8 are bfloat16, of integers int32.
The emulator runs AMD images (emulated.py); --image says which chip it is.
Ends with one line `ok: N products` or with the failures; exit status 1 if there is any.
"""
import argparse
import random
import sys
import time

import numpy as np

import arrays
import bounds
import rt

SHORT = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float8_e4m3": "e4m3", "float8_e5m2": "e5m2", "int8": "i8",
         "uint8": "u8"}  # tf32 is its own
RESULT = {"float8_e4m3": "bfloat16", "float8_e5m2": "bfloat16", "int8": "int32", "uint8": "int32"}


def types_of(dtype):
    """Element types of operands and result, and how large normal data should be."""
    stored = "float32" if dtype == "tf32" else dtype
    return stored, RESULT.get(dtype, stored), 40 if "int8" in dtype else 1


def read_shapes(path, largest):
    for line in open(path, encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            m, n, k, dtype, trans = line.split()
            if max(int(m), int(n), int(k)) <= largest:
                yield int(m), int(n), int(k), dtype, trans


def backend(device, image=None):
    """The array class of a device."""
    if device == "cpu":
        return arrays.Array
    if device == "emulator":
        import emulated
        emulated.install(image)
        return emulated.EmulatedArray
    if device == "torch":
        import torch_arrays
        return torch_arrays.TorchArray
    import cuda_arrays
    return cuda_arrays.CudaArray


def operands(array, shape, make, rng):
    m, n, k, dtype, trans = shape
    stored, result, scale = types_of(dtype)
    shape_a, shape_b = (k, m) if trans[0] == "t" else (m, k), (n, k) if trans[1] == "t" else (k, n)
    a = array(shape_a, stored).fill(scale * make(rng, shape_a))
    b = array(shape_b, stored).fill(scale * make(rng, shape_b))
    return a, b, array((m, n), result).poison()


def expect(a, b, shape):
    """The product and |A| @ |B| in float64."""
    trans = shape[4]
    x, y = a.values(), b.values()
    x, y = (x.T if trans[0] == "t" else x), (y.T if trans[1] == "t" else y)
    return x @ y, np.abs(x) @ np.abs(y)


def worst_error(c, expected, shape):
    """Of all elements, over the bound; infinite when something outside the product was written."""
    k, dtype = shape[2], shape[3]
    reference, magnitude = expected
    limit = bounds.product(reference, magnitude, k, types_of(dtype)[1], dtype)
    got = c.values()
    if dtype == "float16":
        # Beyond 65520 float16 rounds to an infinity; within the bound of that border either is right.
        over = np.abs(reference) - limit > 65520
        border = (np.abs(reference) + limit >= 65504) & ~over
        reference = np.where(over, np.copysign(np.inf, reference), np.where(border, got, reference))
    worst = bounds.worst(got, reference, limit)
    return worst if c.guards_intact() else float("inf")


def kernel_of(library, shape, name=None):
    return library.kernel(name or f"gemm_{SHORT.get(shape[3], shape[3])}_{shape[4]}_matmul")


def one(library, array, shape, make, rng, name):
    """Worst error over its bound, and seconds of the call."""
    a, b, c = operands(array, shape, make, rng)
    kernel = kernel_of(library, shape, name)
    start = time.perf_counter()
    kernel(a, b, c)
    c.synchronize()
    seconds = time.perf_counter() - start
    return worst_error(c, expect(a, b, shape), shape), seconds


def half_of(cases, number):
    """One of two halves, which together are all, dealt at random so that both have some of everything; all of them for None."""
    order = list(range(len(cases)))
    random.Random(6).shuffle(order)
    return [c for i, c in zip(order, cases) if number is None or i % 2 == number]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("--shapes")
    p.add_argument("--shape", action="append", default=[])
    p.add_argument("--kernels", help="leave out shapes whose kernel, as in gemm_f16_nn, is not among these")
    p.add_argument("--name")
    p.add_argument("--largest", type=int, default=10**9)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--device", default="cpu")
    p.add_argument("--image")
    p.add_argument("--half", type=int, choices=[0, 1], help="only one half of the shapes")
    p.add_argument("--table", action="store_true")
    o = p.parse_args()
    array, failures, count = backend(o.device, o.image), [], 0
    library = rt.Library(o.library)
    library.keep_log()
    if o.image:
        library.image_filter(o.image)
    print(f"seed {o.seed}")
    shapes = list(read_shapes(o.shapes, o.largest)) if o.shapes else []
    for text in o.shape:
        m, n, k, dtype, trans = text.split()
        shapes.append((int(m), int(n), int(k), dtype, trans))
    if o.kernels:
        shapes = [s for s in shapes if f"gemm_{SHORT.get(s[3], s[3])}_{s[4]}" in o.kernels.split(",")]
    for shape in half_of(shapes, o.half):
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
