"""Times attention forward against torch's scaled_dot_product_attention (cuDNN or flash), interleaved in random order.

usage: attention_bench.py LIBRARY [--image ARCH] [--rounds N]
"""
import argparse
import sys

import torch

import rt
import torch_arrays
from gemm_bench import measure


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("--image")
    p.add_argument("--rounds", type=int, default=15)
    o = p.parse_args()
    torch.manual_seed(0)
    library = rt.Library(o.library)
    if o.image:
        library.image_filter(o.image)
    flush = torch.empty(96 << 20, dtype=torch.uint8, device="cuda")
    for b, h, s, d, causal in [(4, 32, 4096, 128, False), (4, 32, 4096, 128, True), (4, 32, 4096, 64, False)]:
        kernel = library.kernel(f"attention_f16_{d}{'_causal' if causal else ''}_attention")
        q, k, v = (torch_arrays.TorchArray((b, h, s, d), "float16").fill(torch.randn((b, h, s, d), device="cuda"))
                   for _ in range(3))
        out = torch_arrays.TorchArray((b, h, s, d), "float16").poison()
        candidates = {"tilec": lambda: kernel(q, k, v, out)}
        for name, backend in (("cudnn", torch.nn.attention.SDPBackend.CUDNN_ATTENTION),):
            def peer(backend=backend):
                with torch.nn.attention.sdpa_kernel(backend):
                    return torch.nn.functional.scaled_dot_product_attention(q.data(), k.data(), v.data(), is_causal=causal)
            candidates[name] = peer
        kernel(q, k, v, out)
        torch.cuda.synchronize()
        want = candidates["cudnn"]().double()
        error = ((out.data().double() - want).norm() / want.norm()).item()
        for run in candidates.values():
            run()
        t = measure(candidates, o.rounds, flush)
        flops = 4 * b * h * s * s * d / (2 if causal else 1)
        print(f"({b},{h},{s},{d}){' causal' if causal else ''}: difference {error:.2g}  tilec {flops / t['tilec'] / 1e12:.0f}  "
              f"cuDNN {flops / t['cudnn'] / 1e12:.0f} TFLOP/s  ratio {t['cudnn'] / t['tilec']:.3f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
