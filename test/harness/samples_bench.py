"""Times samples/int4 and samples/batched against torch.mm and torch.bmm: one process, random order, L2 flushed before each.

usage: samples_bench.py LIBRARY int4|batched [--rounds N] [--json FILE]

int4: weights expanded to float16 are the peer's; each number of rows has its tile. batched: equal products, and groups of rows against a
loop of torch.mm. The library has the kernels of build.py's int4-tiles or batched-tiles. Without torch nothing is timed. Each result
is compared with float64 first; exit status 1 if one is off.
"""
import argparse
import json
import math
import sys

import rt
from build import INT4
from timing import against, cell, measure, open_device

BATCHED = [(16, 1024), (64, 512), (8, 2048)]
GROUPS = [1000, 0, 300, 2048, 77, 3000, 512, 1255]


def arrays(device, *given):
    """Of (values of torch, type)."""
    return [device.array(v.shape, t).fill(v) for v, t in given]


def int4(library, device, torch):
    n = k = 8192
    q = torch.randint(0, 256, (n, k // 2), device="cuda", dtype=torch.uint8)
    s = (torch.rand(k // 128, n, device="cuda") * 0.02 + 0.01).half()
    w = torch.stack([(q & 15).int() - 8, (q >> 4).int() - 8], -1).reshape(n, k).double() * s.double().T.repeat_interleave(128, 1)
    expanded = w.half().T
    for m, tile in INT4.items():
        a = torch.randn(m, k, device="cuda").half()
        x, y, z = arrays(device, (a, "float16"), (q, "uint8"), (s, "float16"))
        c, out = device.array((m, n), "float16").poison(), torch.empty(m, n, device="cuda", dtype=torch.float16)
        kernel = library.kernel(f"int4_{tile}_matmul_int4")
        yield (f"int4 {m}x{n}x{k} tile {tile}", c, 2 * m * n * k, a.double() @ w.T, lambda: kernel(x, y, z, c),
               lambda: torch.mm(a, expanded, out=out))


def batched(library, device, torch):
    for b, n in BATCHED:
        a, w = (torch.randn(b, n, n, device="cuda").half() for _ in range(2))
        x, y = arrays(device, (a, "float16"), (w / math.sqrt(n), "float16"))
        c, out, data = device.array((b, n, n), "float16").poison(), torch.empty_like(a), y.data()
        kernel = library.kernel("batched_auto_batched")
        yield f"batched {b}x{n}x{n}x{n}", c, 2 * b * n**3, a.double() @ data.double(), lambda: kernel(x, y, c), \
            lambda: torch.bmm(a, data, out=out)
    n, t = 4096, sum(GROUPS)
    at = [sum(GROUPS[:i]) for i in range(len(GROUPS) + 1)]
    a, w = torch.randn(t, n, device="cuda").half(), (torch.randn(len(GROUPS), n, n, device="cuda") / math.sqrt(n)).half()
    x, y, o = arrays(device, (a, "float16"), (w, "float16"), (torch.tensor(at), "int32"))
    c, out = device.array((t, n), "float16").poison(), torch.empty_like(a)
    groups = [(i, slice(at[i], at[i + 1])) for i, size in enumerate(GROUPS) if size]

    def loop():
        for i, rows in groups:
            torch.mm(a[rows], w[i], out=out[rows])
    want = torch.cat([a[rows].double() @ w[i].double() for i, rows in groups])
    kernel = library.kernel("batched_auto_grouped")
    yield f"grouped {t}x{n}x{n}", c, 2 * t * n * n, want, lambda: kernel(x, y, o, c), loop


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("sample", choices=["int4", "batched"])
    p.add_argument("--rounds", type=int, default=20)
    p.add_argument("--json")
    o = p.parse_args()
    device, missing = open_device()
    rows, wrong = [], 0
    if not missing:
        import torch
        for what, c, work, want, ours, peer in {"int4": int4, "batched": batched}[o.sample](rt.Library(o.library), device, torch):
            ours()
            error = ((c.data().double() - want).norm() / want.norm()).item()
            row = {"shape": what, "relative_error": error,
                   **against(measure({"tilec": ours, "cublas": peer}, o.rounds, device), "cublas", work)}
            ok = error < 1e-3 and c.guards_intact()
            wrong += not ok
            rows.append(row)
            print(f"{what:34s} {cell(row['tilec_tflops'], '8.1f')} {cell(row['cublas_tflops'], '8.1f')} {cell(row['ratio'], '7.3f')}  "
                  f"{error:.1e}{'' if ok else '  WRONG'}", flush=True)
    if o.json:
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump({"rows": rows, "missing": missing}, f)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
