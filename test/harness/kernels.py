"""Runs the samples elementwise, softmax, attention, epilogue, batched and int4 over their shapes and checks the results against float64.

usage: kernels.py LIBRARY SAMPLE [--seed S] [--device cpu|cuda|torch|emulator] [--image ARCH] [--small] [--half 0|1]

--small leaves out the largest shapes (for emulators), --half all but one half of the cases. Ends with `ok: N results` or the failures; exit status 1 if any.
"""
import argparse
import math
import sys

import numpy as np

import arrays
import bounds
import rt
from gemm import backend, half_of

DTYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}
_erf = np.vectorize(math.erf)


def gelu(x):
    return 0.5 * x * (1 + _erf(x * math.sqrt(0.5)))


def elementwise(small):
    """(label, kernel, dtype, input shapes, output shape, reference)"""
    extents = {1: [(1,), (7,), (1023,), (1025,), (4096,)], 2: [(1, 1), (7, 229), (65, 257), (64, 1000)],
               3: [(1, 1, 1), (3, 5, 229), (2, 65, 256)]}
    for short, dtype in DTYPES.items():
        for rank, shapes in extents.items():
            for shape in shapes:
                yield (f"add {shape} {dtype}", f"elementwise_{short}_add_{rank}d", dtype, [shape, shape], shape,
                       lambda x, y: x + y)
                yield (f"gelu {shape} {dtype}", f"elementwise_{short}_gelu_{rank}d", dtype, [shape], shape, gelu)


def softmax(small):
    def reference(x):
        e = np.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    shapes = [(1, 1), (7, 229), (64, 1000)] + ([] if small else [(1000, 4096)])
    for short, dtype in DTYPES.items():
        for shape in shapes:
            yield f"softmax {shape} {dtype}", f"softmax_{short}_softmax", dtype, [shape], shape, reference


def attention(small):
    def reference(causal):
        def compute(q, k, v):
            s = q @ np.swapaxes(k, 2, 3) / math.sqrt(q.shape[3])
            if causal:
                hidden = np.arange(k.shape[2])[None, :] > np.arange(q.shape[2])[:, None]
                s = np.where(hidden, -np.inf, s)
            e = np.exp(s - s.max(axis=3, keepdims=True))
            p = e / e.sum(axis=3, keepdims=True)
            return p @ v, p @ np.abs(v)
        return compute

    for short, dtype in DTYPES.items():
        for b, h, sq, sk, d in [(1, 1, 1, 1, 64), (2, 3, 77, 130, 64), (1, 4, 200, 200, 128)]:
            for causal in (False, True):
                name = f"attention_{short}_{d}{'_causal' if causal else ''}_attention"
                yield (f"attention {(b, h, sq, sk, d)} {dtype}{' causal' if causal else ''}", name, dtype,
                       [(b, h, sq, d), (b, h, sk, d), (b, h, sk, d)], (b, h, sq, d), reference(causal))


def epilogue(small):
    def reference(a, b, bias, r):
        x = a @ b + bias
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) + r, np.abs(a) @ np.abs(b) + np.abs(r)

    for m, n, k in [(1, 1, 1), (65, 129, 64), (63, 72, 130), (128, 64, 8)]:
        yield (f"epilogue {(m, n, k)}", "epilogue_f16_linear_gelu", "float16", [(m, k), (k, n), (n,), (m, n)], (m, n), reference)


def batched(small):
    for b, m, n, k in [(1, 1, 1, 1), (3, 65, 72, 64), (2, 64, 65, 130)]:
        yield (f"batched {(b, m, n, k)}", "batched_f16_batched", "float16", [(b, m, k), (b, k, n)], (b, m, n),
               lambda a, w: (a @ w, np.abs(a) @ np.abs(w)))

    def reference(a, w, offsets):
        group = np.searchsorted(offsets, np.arange(len(a)), side="right") - 1
        rows = [(a[i] @ w[g], np.abs(a[i]) @ np.abs(w[g])) for i, g in enumerate(group)]
        return tuple(np.array(x).reshape(len(a), w.shape[2]) for x in zip(*rows))

    for sizes, n, k in [([1], 1, 1), ([0, 5, 130, 0, 0, 1, 64, 128, 0], 72, 40), ([63, 65], 65, 130)]:
        offsets = ((len(sizes) + 1,), "int32", lambda rng, shape, sizes=sizes: np.cumsum([0] + sizes))
        yield (f"grouped {sizes} {(n, k)}", "batched_f16_grouped", "float16", [(sum(sizes), k), (len(sizes), k, n), offsets],
               (sum(sizes), n), reference)


def int4(small):
    def reference(a, q, s):
        k = a.shape[1]
        w = (np.stack([q % 16, q // 16], axis=2).reshape(len(q), -1)[:, :k] - 8) * np.repeat(s.T, 128, axis=1)[:, :k]
        return a @ w.T, np.abs(a) @ np.abs(w).T

    for kernel in ("matvec_int4", "matmul_int4"):
        for m, n, k in [(1, 1, 1), (2, 65, 384), (17, 72, 130), (1, 64, 1025)]:
            bytes_ = ((n, (k + 1) // 2), "uint8", lambda rng, shape: rng.integers(0, 256, shape))
            yield (f"{kernel} {(m, n, k)}", f"int4_f16_{kernel}", "float16", [(m, k), bytes_, ((k + 127) // 128, n)], (m, n),
                   reference)


def one(library, array, case, seed):
    """Inputs are normal numbers of the case's type, or (shape, type, what makes them)."""
    label, name, dtype, inputs, output, reference = case
    rng = np.random.default_rng(seed)
    args = []
    for given in inputs:
        shape, kind, make = given if isinstance(given[0], tuple) else (given, dtype, arrays.standard_normal)
        args.append(array(shape, kind).fill(make(rng, shape)))
    out = array(output, dtype).poison()
    library.kernel(name)(*args, out)
    out.synchronize()
    want, got, magnitude = reference(*[a.values() for a in args]), out.values(), None
    if isinstance(want, tuple):
        want, magnitude = want
    relative = bounds.relative_frobenius(got, want)
    worst = bounds.worst(got, want, bounds.element(want, dtype, magnitude))
    wrong = []
    if not relative <= bounds.frobenius(dtype):
        wrong.append(f"relative error {relative:.3g}, allowed {bounds.frobenius(dtype):.3g}")
    if not worst <= 1:
        wrong.append(f"an element is {worst:.3g} times its bound off")
    if not out.guards_intact():
        wrong.append("writes outside the output")
    return wrong, relative


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("sample", choices=["elementwise", "softmax", "attention", "epilogue", "batched", "int4"])
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--device", default="cpu")
    p.add_argument("--image")
    p.add_argument("--small", action="store_true")
    p.add_argument("--half", type=int, choices=[0, 1])
    p.add_argument("--table", action="store_true")
    o = p.parse_args()
    array, failures, count = backend(o.device, o.image), [], 0
    library = rt.Library(o.library)
    library.keep_log()
    if o.image:
        library.image_filter(o.image)
    print(f"seed {o.seed}")
    for case in half_of(list(globals()[o.sample](o.small)), o.half):
        count += 1
        try:
            wrong, relative = one(library, array, case, [o.seed, count])
        except rt.TileError as e:
            wrong, relative = [str(e)], float("nan")
        if o.table:
            print(f"{case[0]:50s} relative error {relative:.3g}")
        failures += [f"{case[0]}: {w}" for w in wrong]
    for f in failures:
        print("FAILED", f)
    print(f"{len(failures)} failures in {count} results" if failures else f"ok: {count} results")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
