"""Errors of float32 products against float64, several kernels and cuBLAS (TF32 off) on the same numbers.

usage: precision.py LIBRARY KERNEL [KERNEL..] [--image ARCH] [--shape MxNxK] [--json FILE]

Numbers are normal, uniform in [0, 1), or of a wide range: normal times 2^-20 .. 2^20, drawn for each element. Printed for each kernel:
the Frobenius norm of the error over that of the product, and the largest |error| / (|A| |B|) in units of 2^-24. Exit status 1 when a
kernel after the first is less accurate than the first on normal or uniform numbers, has twice its error on the others, or when
something is not finite.
"""
import argparse
import json
import sys

import rt
from timing import open_device


def numbers(torch, shape, kind):
    if kind == "uniform":
        return torch.rand(shape, device="cuda")
    x = torch.randn(shape, device="cuda")
    return x if kind == "normal" else x * torch.exp2(torch.rand(shape, device="cuda") * 40 - 20)


def errors(torch, c, a, b):
    x, y = a.double(), b.double()
    reference = x @ y
    e = (c.double() - reference).abs()
    largest = (e / (x.abs() @ y.abs())).max().item() * 2**24
    return (e.square().sum().sqrt() / reference.square().sum().sqrt()).item(), largest


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("kernels", nargs="+")
    p.add_argument("--image")
    p.add_argument("--shape", default="1024x1024x4096")
    p.add_argument("--json")
    o = p.parse_args()
    device, missing = open_device()
    if missing:
        sys.exit(f"precision.py needs torch: {missing}")
    import torch
    library = rt.Library(o.library)
    if o.image:
        library.image_filter(o.image)
    m, n, k = map(int, o.shape.split("x"))
    a, b, c = (device.array(s, "float32") for s in ((m, k), (k, n), (m, n)))
    rows, wrong = [], False
    for kind in ("normal", "uniform", "wide"):
        for side in (a, b):
            side.data().copy_(numbers(torch, side.shape, kind))
        row = {"numbers": kind, "cublas": errors(torch, torch.mm(a.data(), b.data()), a.data(), b.data())}
        for name in o.kernels:
            c.poison()
            library.kernel(name)(a, b, c)
            c.synchronize()
            row[name] = errors(torch, c.data(), a.data(), b.data())
        first = row[o.kernels[0]][0]
        wrong |= any(not row[name][0] <= (first if kind != "wide" else 2 * first) for name in o.kernels)
        rows.append(row)
        print(f"{kind:8s} {o.shape}", "   ".join(f"{name} {e:.2e} / {m:.2f}" for name, (e, m) in list(row.items())[1:]), flush=True)
    if o.json:
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump({"rows": rows, "missing": None}, f, indent=1)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
