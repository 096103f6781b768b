"""Times attention forward against torch's scaled_dot_product_attention (cuDNN), interleaved in random order.

usage: attention_bench.py LIBRARY [--image ARCH] [--rounds N] [--json FILE]

Without torch there is no cuDNN column.
"""
import argparse
import json
import sys

import numpy as np

import rt
from timing import against, cell, measure, open_device

CASES = [(4, 32, 4096, 128, False), (4, 32, 4096, 128, True), (4, 32, 4096, 64, False)]


def peer_of(q, k, v, causal):
    if not hasattr(q, "data"):
        return None
    import torch

    def run():
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q.data(), k.data(), v.data(), is_causal=causal)
    return run


def difference(out, peer):
    want = peer().double()
    return ((out.data().double() - want).norm() / want.norm()).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("--image")
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--json")
    o = p.parse_args()
    device, missing = open_device()
    library, rows = rt.Library(o.library), []
    if o.image:
        library.image_filter(o.image)
    for b, h, s, d, causal in CASES:
        kernel = library.kernel(f"attention_f16_{d}{'_causal' if causal else ''}_attention")
        rng = np.random.default_rng(0)
        q, k, v = (device.array((b, h, s, d), "float16").fill(rng.standard_normal((b, h, s, d), np.float32)) for _ in range(3))
        out = device.array((b, h, s, d), "float16").poison()
        candidates, peer = {"tilec": lambda: kernel(q, k, v, out)}, peer_of(q, k, v, causal)
        kernel(q, k, v, out)
        out.synchronize()
        if peer:
            candidates["cudnn"] = peer
        r = {"shape": [b, h, s, d], "causal": causal, "image": o.image, "difference": difference(out, peer) if peer else None}
        r.update(against(measure(candidates, o.rounds, device), "cudnn", 4 * b * h * s * s * d / (2 if causal else 1)))
        rows.append(r)
        print(f"({b},{h},{s},{d}){' causal' if causal else ''}: difference {cell(r['difference'], '.2g')}  "
              f"tilec {r['tilec_tflops']:.0f}  cuDNN {cell(r['cudnn_tflops'], '.0f')} TFLOP/s  ratio {cell(r['ratio'], '.3f')}", flush=True)
    if missing:
        print("no cuDNN column:", missing)
    if o.json:
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump({"device": device.name, "missing": missing, "rows": rows}, f, indent=1)
    return 0 if all(r["difference"] is None or r["difference"] < 2e-3 for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
