"""Times products against cuBLAS (torch.mm) in one process, candidates interleaved in random order, L2 flushed before each.

usage: gemm_bench.py LIBRARY [--image ARCH] [--shapes MxNxK,..] [--dtype f16] [--rounds N] [--json FILE]
"""
import argparse
import json
import random
import sys

import torch

import arrays
import bounds
import rt
import torch_arrays

SHAPES = "4096x4096x4096,8192x1024x8192,2000x3000x1000,2048x2048x2048,1024x1024x1024,8192x8192x8192"
NAMES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32"}


def measure(candidates, rounds, flush):
    """Median seconds of each candidate: CUDA events around single launches, random order."""
    times = {name: [] for name in candidates}
    for _ in range(rounds):
        order = list(candidates)
        random.shuffle(order)
        for name in order:
            flush.zero_()
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            candidates[name]()
            end.record()
            end.synchronize()
            times[name].append(begin.elapsed_time(end) * 1e-3)
    return {name: sorted(t)[len(t) // 2] for name, t in times.items()}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("--image")
    p.add_argument("--shapes", default=SHAPES)
    p.add_argument("--dtype", default="f16")
    p.add_argument("--trans", default="nn")
    p.add_argument("--rounds", type=int, default=40)
    p.add_argument("--json")
    o = p.parse_args()
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    library = rt.Library(o.library)
    library.keep_log()
    if o.image:
        library.image_filter(o.image)
    kernel = library.kernel(f"gemm_{o.dtype}_{o.trans}_matmul")
    flush, rows = torch.empty(96 << 20, dtype=torch.uint8, device="cuda"), []
    for text in o.shapes.split(","):
        m, n, k = map(int, text.split("x"))
        dtype = NAMES[o.dtype]
        a = torch_arrays.TorchArray((m, k) if o.trans[0] == "n" else (k, m), dtype)
        b = torch_arrays.TorchArray((k, n) if o.trans[1] == "n" else (n, k), dtype)
        c, peer = torch_arrays.TorchArray((m, n), dtype).poison(), torch.empty(0)
        a.fill(torch.randn(a.shape, device="cuda"))
        b.fill(torch.randn(b.shape, device="cuda"))
        x = a.data() if o.trans[0] == "n" else a.data().T
        y = b.data() if o.trans[1] == "n" else b.data().T
        out = torch.empty((m, n), dtype=a.data().dtype, device="cuda")
        kernel(a, b, c)
        torch.cuda.synchronize()
        reference, magnitude = x.double() @ y.double(), x.double().abs() @ y.double().abs()
        limit = 2 * arrays.UNIT[dtype] * reference.abs() + 4 * (k + 2) * bounds.U_ACC * magnitude + bounds.UNDERFLOW[dtype]
        error = ((c.data().double() - reference).abs() / limit).nan_to_num(nan=float("inf")).max().item()
        del reference, magnitude, limit
        candidates = {"tilec": lambda: kernel(a, b, c), "cublas": lambda: torch.mm(x, y, out=out)}
        for run in candidates.values():
            for _ in range(3):
                run()
        t = measure(candidates, o.rounds, flush)
        flops = 2 * m * n * k
        rows.append({"shape": text, "dtype": o.dtype, "trans": o.trans, "error": error, "ratio": t["cublas"] / t["tilec"],
                     "tilec_tflops": flops / t["tilec"] / 1e12, "cublas_tflops": flops / t["cublas"] / 1e12})
        r = rows[-1]
        print(f"{o.dtype} {o.trans} {text:18s} error {error:7.3f} of its bound   tilec {r['tilec_tflops']:7.1f}   "
              f"cuBLAS {r['cublas_tflops']:7.1f} TFLOP/s   ratio {r['ratio']:.3f}", flush=True)
    print("images:", sorted({line for line in library.log if "image" in line})[:3])
    if o.json:
        json.dump({"device": torch.cuda.get_device_name(), "rows": rows}, open(o.json, "w"), indent=1)
    return 0 if all(r["error"] <= 1 for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
