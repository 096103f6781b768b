"""Times the samples elementwise and softmax, which memory bounds, against torch, interleaved in random order, L2 flushed before each.

usage: memory_bench.py LIBRARY [--image ARCH] [--only PREFIX,..] [--rival LIBRARY] [--rounds N] [--json FILE]

GB/s counts each input and the output once. --only: prefixes of kernels, such as softmax_f16. --rival is a library with the same
kernels, made by another compiler: it is checked and timed among the candidates. Every element is checked against its bound first,
in float64; exit status 1 if one is off. Without torch there are times, but no checks and no column for it.
"""
import argparse
import math
import sys

import numpy as np

import bounds
import rt
from kernels import DTYPES
from timing import against, cell, fill_normal, finish, measure, open_device

# Even extents, and odd ones: rows that start where no vector may be loaded, a last block that is not full.
SHAPES = {"1d": [(1 << 26,), ((1 << 26) - 1,)], "2d": [(8192, 8192), (4095, 8191)], "3d": [(64, 1024, 1024), (63, 1023, 1025)],
          "softmax": [(8192, 8192), (4096, 32768), (65536, 1024), (4096, 4095)]}
KERNELS = {"elementwise": {f"{op}_{rank}": SHAPES[rank] for op in ("add", "gelu") for rank in ("1d", "2d", "3d")},
           "softmax": {"softmax": SHAPES["softmax"]}}
PREFIXES = [f"{sample}_{short}" for sample in KERNELS for short in DTYPES]


def cases(prefixes):
    """(function of the library, operation, dtype, shape)"""
    for prefix in prefixes:
        sample, short = prefix.split("_")
        for kernel, shapes in KERNELS[sample].items():
            for shape in shapes:
                yield f"{prefix}_{kernel}", kernel.split("_")[0], DTYPES[short], shape


def with_torch(operation):
    import torch
    return {"add": torch.add, "gelu": torch.nn.functional.gelu, "softmax": lambda x: torch.softmax(x, dim=1)}[operation]


def worst_error(run, out, want, dtype):
    """Of all elements, and of the whole, over their bounds; infinite where something is missing or guards are overwritten."""
    import torch_arrays
    out.poison()
    run()
    got = out.data().double()
    relative = ((got - want).norm() / want.norm()).item() / bounds.frobenius(dtype)
    return max(torch_arrays.worst(got, want, bounds.element(want, dtype)), relative) if out.guards_intact() else float("inf")


def one(libraries, device, rounds, case):
    function, operation, dtype, shape = case
    inputs = [fill_normal(device.array(shape, dtype), np.random.default_rng(i)) for i in range(2 if operation == "add" else 1)]
    out, row = device.array(shape, dtype), {"shape": f"{function} {'x'.join(map(str, shape))}", "error": None}
    candidates = {who: lambda run=library.kernel(function): run(*inputs, out) for who, library in libraries.items()}
    if hasattr(out, "data"):
        want = with_torch(operation)(*[a.data().double() for a in inputs])
        row["error"] = max(worst_error(run, out, want, dtype) for run in candidates.values())
        candidates["torch"] = lambda: with_torch(operation)(*[a.data() for a in inputs])
    moved = (len(inputs) + 1) * math.prod(shape) * rt.CODES[dtype][1] // 8
    row.update(against(measure(candidates, rounds, device), "torch", moved, "gbs"))
    return row


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("library")
    p.add_argument("--image")
    p.add_argument("--only", default=",".join(PREFIXES))
    p.add_argument("--rival")
    p.add_argument("--rounds", type=int, default=30)
    p.add_argument("--json")
    o = p.parse_args()
    prefixes = o.only.split(",")
    if unknown := [prefix for prefix in prefixes if prefix not in PREFIXES]:
        p.error(f"unknown kernels {unknown[0]}; there are {', '.join(PREFIXES)}")
    libraries = {"tilec": rt.Library(o.library), **({"rival": rt.Library(o.rival)} if o.rival else {})}
    for case in cases(prefixes):
        for library in libraries.values():
            library.kernel(case[0])  # a missing one is noticed before anything runs
    device, missing = open_device()
    for library in libraries.values():
        library.image_filter(o.image)
    rows = []
    for case in cases(prefixes):
        rows.append(r := {**one(libraries, device, o.rounds, case), "image": o.image})
        print(f"{r['shape']:40s} error {cell(r['error'], '.2f')} of its bound   "
              f"tilec {r['tilec_gbs']:6.0f}   torch {cell(r['torch_gbs'], '6.0f')} GB/s   ratio {cell(r['ratio'], '.3f')}"
              + (f"   rival's time / tilec's {r['rival_ratio']:.4f}" if o.rival else ""), flush=True)
    return finish(o.json, device, missing, rows, "no checks, no column of torch")


if __name__ == "__main__":
    sys.exit(main())
