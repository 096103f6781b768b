"""Times products against cuBLAS (torch.mm) in one process, candidates interleaved in random order, L2 flushed before each.

usage: gemm_bench.py LIBRARY [--image ARCH] [--shapes MxNxK,..] [--dtype f16] [--trans nn] [--kernel NAME] [--rival LIBRARY] [--fixed LIBRARY] [--triton] [--rounds N] [--json FILE]

--rival is a library with the same kernel, made from another program: it is timed among the candidates. --fixed: one with a kernel for
each single shape (gemm_f16_nn_MxNxK_matmul). --triton: Triton too, tuned for each shape, where it is installed. Without torch there is
no cuBLAS column. Every element is checked against its bound first; exit status 1 if one is off.
"""
import argparse
import json
import sys

import numpy as np

import arrays
import bounds
import rt
from gemm import expect
from timing import against, cell, measure, open_device

SHAPES = "4096x4096x4096,8192x1024x8192,2000x3000x1000,2048x2048x2048,1024x1024x1024,8192x8192x8192"
NAMES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}


def operands(device, m, n, k, dtype, trans):
    rng = np.random.default_rng(0)
    shapes = ((m, k) if trans[0] == "n" else (k, m)), ((k, n) if trans[1] == "n" else (n, k))
    a, b = (device.array(s, dtype) for s in shapes)
    for array in (a, b):
        if hasattr(array, "data"):
            array.data().normal_()
        else:
            array.fill(rng.standard_normal(array.shape, np.float32))
    return a, b, device.array((m, n), dtype).poison()


def peer_of(device, a, b, trans):
    """torch.mm on the same operands, and the error of `c` over its bound, on the device; None without torch."""
    if not hasattr(a, "data"):
        return None
    import torch
    x = a.data() if trans[0] == "n" else a.data().T
    y = b.data() if trans[1] == "n" else b.data().T
    out = torch.empty((x.shape[0], y.shape[1]), dtype=x.dtype, device="cuda")
    return x, y, lambda: torch.mm(x, y, out=out)


def triton_launch(x, y, device):
    """Triton's fastest way for this shape; None without Triton, or where none of its kernels works."""
    try:
        import triton_peer
    except ImportError:
        return None
    found = triton_peer.fastest(x, y, device)
    return found and found[0]


def worst_error(a, b, c, peer, shape):
    """Of all elements, over the bound. On the device where torch is: float64 products of this size take a while."""
    k, dtype = shape[2], shape[3]
    if not peer:
        reference, magnitude = expect(a, b, shape)
        return bounds.worst(c.values(), reference, bounds.product(reference, magnitude, k, dtype))
    x, y = (t.double() for t in peer[:2])
    reference = x @ y
    limit = 4 * (k + 2) * bounds.U_ACC * (x.abs() @ y.abs()) + 2 * arrays.UNIT[dtype] * reference.abs() + bounds.UNDERFLOW[dtype]
    return ((c.data().double() - reference).abs() / limit).nan_to_num(nan=float("inf")).max().item()


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
    kernel, rows, dtype = library.kernel(name), [], NAMES[o.dtype]
    rival = rt.Library(o.rival).kernel(name) if o.rival else None
    fixed = rt.Library(o.fixed) if o.fixed else None
    for text in o.shapes.split(","):
        m, n, k = map(int, text.split("x"))
        a, b, c = operands(device, m, n, k, dtype, o.trans)
        peer = peer_of(device, a, b, o.trans)
        kernel(a, b, c)
        c.synchronize()
        error = worst_error(a, b, c, peer, (m, n, k, dtype, o.trans))
        candidates = {"tilec": lambda: kernel(a, b, c)}
        if peer:
            candidates["cublas"] = peer[2]
        if rival:
            candidates["rival"] = lambda: rival(a, b, c)
        if fixed and hasattr(fixed.lib, name.replace("_matmul", f"_{text}_matmul")):
            one = fixed.kernel(name.replace("_matmul", f"_{text}_matmul"))
            candidates["fixed"] = lambda: one(a, b, c)
            c.poison()
            one(a, b, c)
            c.synchronize()
            error = max(error, worst_error(a, b, c, peer, (m, n, k, dtype, o.trans)))
        if o.triton and peer and (launch := triton_launch(*peer[:2], device)):
            candidates["triton"] = launch
        r = {"kernel": o.kernel or "gemm", "shape": text, "dtype": o.dtype, "trans": o.trans, "image": o.image, "error": error}
        times = measure(candidates, o.rounds, device)
        r.update(against(times, "cublas", 2 * m * n * k))
        for other in ("rival", "fixed", "triton"):
            r[other + "_ratio"] = times[other] / times["tilec"] if other in times else None
        rows.append(r)
        print(f"{o.dtype} {o.trans} {text:18s} error {error:7.3f} of its bound   tilec {r['tilec_tflops']:7.1f}   "
              f"cuBLAS {cell(r['cublas_tflops'], '7.1f')} TFLOP/s   ratio {cell(r['ratio'], '.3f')}"
              + (f"   rival's time / tilec's {r['rival_ratio']:.4f}" if rival else ""), flush=True)
    print("images:", sorted({line for line in library.log if "image" in line})[:3])
    if missing:
        print("no cuBLAS column:", missing)
    if o.json:
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump({"device": device.name, "missing": missing, "rows": rows}, f, indent=1)
    return 0 if all(r["error"] <= 1 for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
