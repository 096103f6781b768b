"""Times attention forward against torch's scaled_dot_product_attention (cuDNN), interleaved in random order.

usage: attention_bench.py LIBRARY [--image ARCH] [--dtype f16] [--rival LIBRARY] [--rounds N] [--json FILE]

--rival is a library with the same kernels, made by another compiler: it is checked and timed among the candidates. Every element is
checked against its bound first, in float64; exit status 1 if one is off. Without torch there are times, but no checks and no cuDNN
column.
"""
import argparse
import itertools
import math
import sys

import numpy as np

import bounds
import rt
from kernels import DTYPES
from timing import against, cell, fill_normal, finish, measure, open_device

# The last ones: a last tile that is not full, and few keys.
CASES = [(4, 32, 4096, 128, False), (4, 32, 4096, 128, True), (4, 32, 4096, 64, False), (4, 32, 4096, 64, True),
         (4, 32, 4095, 128, True), (32, 16, 512, 64, False)]


def peer_of(q, k, v, causal):
    if not hasattr(q, "data"):
        return None
    import torch

    def run():
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q.data(), k.data(), v.data(), is_causal=causal)
    return run


def worst_error(run, q, k, v, out, causal, dtype):
    """Of all elements, and of the whole, over their bounds, in float64; infinite where guards are overwritten."""
    import torch
    import torch_arrays
    out.poison()
    run()
    worst = errors = norms = 0.0
    for b, h in itertools.product(*map(range, out.shape[:2])):
        x, y, z, got = (a.data()[b, h].double() for a in (q, k, v, out))
        scores = x @ y.T / math.sqrt(x.shape[1])
        if causal:
            scores += torch.full_like(scores, float("-inf")).triu(1)
        p = scores.softmax(dim=1)
        want = p @ z
        worst = max(worst, torch_arrays.worst(got, want, bounds.element(want, dtype, p @ z.abs())))
        errors += (got - want).square().sum().item()
        norms += want.square().sum().item()
    return max(worst, math.sqrt(errors / norms) / bounds.frobenius(dtype)) if out.guards_intact() else float("inf")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("--image")
    p.add_argument("--dtype", default="f16", choices=["f16", "bf16"])
    p.add_argument("--rival")
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--json")
    o = p.parse_args()
    device, missing = open_device()
    libraries = {"tilec": rt.Library(o.library), **({"rival": rt.Library(o.rival)} if o.rival else {})}
    for library in libraries.values():
        library.image_filter(o.image)
    rows, dtype = [], DTYPES[o.dtype]
    for b, h, s, d, causal in CASES:
        name, rng = f"attention_{o.dtype}_{d}{'_causal' if causal else ''}_attention", np.random.default_rng(0)
        q, k, v = (fill_normal(device.array((b, h, s, d), dtype), rng) for _ in range(3))
        out, peer, error = device.array((b, h, s, d), dtype), peer_of(q, k, v, causal), None
        candidates = {who: lambda run=library.kernel(name): run(q, k, v, out) for who, library in libraries.items()}
        if peer:
            error = max(worst_error(run, q, k, v, out, causal, dtype) for run in candidates.values())
            candidates["cudnn"] = peer
        r = {"shape": [b, h, s, d], "dtype": o.dtype, "causal": causal, "image": o.image, "error": error}
        r.update(against(measure(candidates, o.rounds, device), "cudnn", 4 * b * h * s * s * d / (2 if causal else 1)))
        rows.append(r)
        print(f"{o.dtype} ({b},{h},{s},{d}){' causal' if causal else ''}: error {cell(r['error'], '.2f')} of its bound  "
              f"tilec {r['tilec_tflops']:.0f}  cuDNN {cell(r['cudnn_tflops'], '.0f')} TFLOP/s  ratio {cell(r['ratio'], '.3f')}"
              + (f"  rival's time / tilec's {r['rival_ratio']:.4f}" if o.rival else ""), flush=True)
    return finish(o.json, device, missing, rows, "no checks, no cuDNN column")


if __name__ == "__main__":
    sys.exit(main())
