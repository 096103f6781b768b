"""Times products against cuBLAS in one process, candidates interleaved in random order, L2 flushed before each.

usage: gemm_bench.py LIBRARY [--image ARCH] [--shapes MxNxK,..] [--dtype f16] [--trans nn] [--kernel NAME] [--rival LIBRARY] [--fixed LIBRARY] [--triton] [--rounds N] [--json FILE]

cuBLAS is torch.mm; for fp8 the faster of torch._scaled_mm with and without fast accumulation, for int8 torch._int_mm, both for B
stored as N rows of K only; for tf32 torch.mm with allow_tf32. --rival is a library with the same kernel, made from another program:
it is timed among the candidates. --fixed: one with a kernel for each single shape (gemm_f16_nn_MxNxK_matmul). --triton: Triton too,
tuned for each shape, where it is installed. Without torch there is no cuBLAS column. Every element is checked against its bound
first; exit status 1 if one is off.
"""
import argparse
import sys

import numpy as np

import bounds
import rt
from gemm import SHORT, expect, types_of
from timing import against, cell, fill_normal, finish, measure, open_device

SHAPES = "4096x4096x4096,8192x1024x8192,2000x3000x1000,2048x2048x2048,1024x1024x1024,8192x8192x8192"
NAMES = {short: name for name, short in SHORT.items()}


def operands(device, m, n, k, dtype, trans):
    rng = np.random.default_rng(0)
    stored, result, scale = types_of(dtype)
    shapes = ((m, k) if trans[0] == "n" else (k, m)), ((k, n) if trans[1] == "n" else (n, k))
    a, b = (device.array(s, stored) for s in shapes)
    for array in (a, b):
        fill_normal(array, rng, scale)
    return a, b, device.array((m, n), result).poison()


def peers_of(a, b, c, dtype, trans):
    """Both operands as matrices, and what computes their product with cuBLAS; None without torch."""
    if not hasattr(a, "data"):
        return None
    import torch
    x = a.data() if trans[0] == "n" else a.data().T
    y = b.data() if trans[1] == "n" else b.data().T
    out = torch.empty((x.shape[0], y.shape[1]), dtype=c.data().dtype, device="cuda")
    if dtype.startswith("float8"):
        one = torch.ones((), device="cuda")

        def scaled(fast):
            return lambda: torch._scaled_mm(x, y, one, one, out_dtype=out.dtype, use_fast_accum=fast, out=out)
        runs = [scaled(False), scaled(True)] if trans == "nt" and dtype == "float8_e4m3" else []
    elif "int8" in dtype:
        runs = [lambda: torch._int_mm(x, y, out=out)] if trans == "nt" and dtype == "int8" else []
    else:
        torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
        runs = [lambda: torch.mm(x, y, out=out)]
    return x, y, runs


def triton_launch(x, y, device):
    """Triton's fastest way for this shape; None without Triton, or where none of its kernels works."""
    try:
        import triton_peer
    except ImportError:
        return None
    found = triton_peer.fastest(x, y, device)
    return found and found[0]


def worst_error(a, b, c, peers, shape):
    """Of all elements, over the bound, and of the whole, relative. On the device where torch is: float64 products of this size
    take a while."""
    k, dtype = shape[2], shape[3]
    result = types_of(dtype)[1]
    if not peers:
        reference, magnitude = expect(a, b, shape)
        return (bounds.worst(c.values(), reference, bounds.product(reference, magnitude, k, result, dtype)),
                bounds.relative_frobenius(c.values(), reference))
    import torch_arrays
    x, y = (t.float().double() for t in peers[:2])
    reference = x @ y
    of_result, of_terms, always = bounds.product_factors(k, result, dtype)
    limit = of_terms * (x.abs() @ y.abs()) + of_result * reference.abs() + always
    got = c.data().double()
    return torch_arrays.worst(got, reference, limit), ((got - reference).norm() / reference.norm()).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("--image")
    p.add_argument("--shapes", default=SHAPES)
    p.add_argument("--dtype", default="f16")
    p.add_argument("--trans", default="nn")
    p.add_argument("--kernel")
    p.add_argument("--rival")
    p.add_argument("--fixed")
    p.add_argument("--triton", action="store_true")
    p.add_argument("--rounds", type=int, default=40)
    p.add_argument("--json")
    o = p.parse_args()
    device, missing = open_device()
    library = rt.Library(o.library)
    library.keep_log()
    if o.image:
        library.image_filter(o.image)
    name = o.kernel or f"gemm_{o.dtype}_{o.trans}_matmul"
    kernel, rows, dtype = library.kernel(name), [], NAMES.get(o.dtype, o.dtype)
    rival = rt.Library(o.rival).kernel(name) if o.rival else None
    fixed = rt.Library(o.fixed) if o.fixed else None
    for text in o.shapes.split(","):
        m, n, k = map(int, text.split("x"))
        a, b, c = operands(device, m, n, k, dtype, o.trans)
        peers = peers_of(a, b, c, dtype, o.trans)
        kernel(a, b, c)
        c.synchronize()
        error, relative = worst_error(a, b, c, peers, (m, n, k, dtype, o.trans))
        candidates = {"tilec": lambda: kernel(a, b, c)}
        for i, run in enumerate(peers[2] if peers else ()):
            candidates[f"cublas{i}"] = run
        if rival:
            candidates["rival"] = lambda: rival(a, b, c)
        if fixed and hasattr(fixed.lib, name.replace("_matmul", f"_{text}_matmul")):
            one = fixed.kernel(name.replace("_matmul", f"_{text}_matmul"))
            candidates["fixed"] = lambda: one(a, b, c)
            c.poison()
            one(a, b, c)
            c.synchronize()
            error = max(error, worst_error(a, b, c, peers, (m, n, k, dtype, o.trans))[0])
        if o.triton and peers and (launch := triton_launch(*peers[:2], device)):
            candidates["triton"] = launch
        r = {"kernel": o.kernel or "gemm", "shape": text, "dtype": o.dtype, "trans": o.trans, "image": o.image, "error": error,
             "relative": relative}
        times = measure(candidates, o.rounds, device)
        cublas = [times.pop(name) for name in list(times) if name.startswith("cublas")]
        if cublas:
            times["cublas"] = min(cublas)
        r.update(against(times, "cublas", 2 * m * n * k, others=("rival", "fixed", "triton")))
        rows.append(r)
        print(f"{o.dtype} {o.trans} {text:18s} error {error:7.3f} of its bound, {relative:.1e} of all   tilec {r['tilec_tflops']:7.1f}   "
              f"cuBLAS {cell(r['cublas_tflops'], '7.1f')} TFLOP/s   ratio {cell(r['ratio'], '.3f')}"
              + (f"   rival's time / tilec's {r['rival_ratio']:.4f}" if rival else ""), flush=True)
    print("images:", sorted({line for line in library.log if "image" in line})[:3])
    return finish(o.json, device, missing, rows, "no cuBLAS column")


if __name__ == "__main__":
    sys.exit(main())
