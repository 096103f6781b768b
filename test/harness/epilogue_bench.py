"""Times samples/epilogue (product, bias, GELU, residual in one kernel) beside the plain product of samples/gemm in one process,
candidates interleaved in random order, L2 flushed before each.

usage: epilogue_bench.py EPILOGUE_LIBRARY GEMM_LIBRARY [--shapes MxNxK,..] [--rounds N] [--json FILE]

The libraries' kernels are epilogue_auto_linear_gelu and gemm_f16_nn_matmul. The peer is what torch does in three kernels: addmm, GELU
and an addition; without torch nothing is timed. Every element is checked against its bound first; exit status 1 if one is off.
"""
import argparse
import math
import sys

import bounds
import rt
from timing import against, finish, measure_rounds, median, open_device, ratio_of

SHAPES = "4096x4096x4096,8192x8192x8192,8192x1024x8192,4096x14336x4096,2048x2048x2048,2000x3000x1000"


def gelu(x):
    import torch
    return torch.nn.functional.gelu(x, approximate="tanh")


def worst_error(out, a, b, bias, residual):
    """Of all elements, over the bound: that of the sums, which GELU (slope below 1.13) makes larger, half of tanh.approx's relative
    error of 2^-11 (PTX ISA), and what the result is rounded by."""
    x, y, before = a.data().double(), b.data().double(), bias.data().double()
    sums, rest = x @ y + before, residual.data().double()
    want = gelu(sums) + rest
    of_result, of_terms, always = bounds.product_factors(a.shape[1], "float16")
    limit = 1.13 * of_terms * (x.abs() @ y.abs() + before.abs() + rest.abs()) + 2**-12 * sums.abs() + of_result * want.abs() + always
    return ((out.data().double() - want).abs() / limit).nan_to_num(nan=float("inf")).max().item()


def measured(device, fused, plain, shape, rounds):
    """A row of results."""
    import torch
    m, n, k = shape
    a, b, bias, residual, out, product = (device.array(s, "float16") for s in ((m, k), (k, n), (n,), (m, n), (m, n), (m, n)))
    for array, scale in ((a, 1), (b, 1 / math.sqrt(k)), (bias, 1), (residual, 1)):
        array.fill(scale * torch.randn(array.shape, device="cuda"))
    fused(a, b, bias, residual, out.poison())
    out.synchronize()
    error = worst_error(out, a, b, bias, residual) if out.guards_intact() else float("inf")
    each = measure_rounds({"tilec": lambda: fused(a, b, bias, residual, out), "plain": lambda: plain(a, b, product),
                           "torch": lambda: gelu(torch.addmm(bias.data(), a.data(), b.data())) + residual.data()}, rounds, device)
    times = {name: median(t) for name, t in each.items()}
    return {"error": error, "tilec_us": times["tilec"] * 1e6, "over_plain": ratio_of(each, "tilec", "plain"),
            **against(times, "torch", 2 * m * n * k)}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("epilogue")
    p.add_argument("gemm")
    p.add_argument("--shapes", default=SHAPES)
    p.add_argument("--rounds", type=int, default=100)
    p.add_argument("--json")
    o = p.parse_args()
    device, missing = open_device()
    rows = []
    fused, plain = rt.Library(o.epilogue).kernel("epilogue_auto_linear_gelu"), rt.Library(o.gemm).kernel("gemm_f16_nn_matmul")
    for text in o.shapes.split(",") if not missing else ():
        rows.append({"shape": text, **measured(device, fused, plain, tuple(map(int, text.split("x"))), o.rounds)})
        print("{shape:18s} error {error:6.3f} of its bound   {tilec_us:8.1f} us, {over_plain:.3f} of the plain product's time   "
              "torch's time / ours {ratio:.3f}".format(**rows[-1]), flush=True)
    return finish(o.json, device, missing, rows, "nothing timed")


if __name__ == "__main__":
    sys.exit(main())
