"""Runs the kernels of wide-tiles.tile and compares them with numpy; every result is exact.

usage: wide_tiles.py LIBRARY.so HARNESS-FOLDER [ARCH]

On the CPU, or on ARCH as calls.py says.
"""
import ctypes as c
import sys

import numpy as np

sys.path.insert(0, sys.argv[2])
from calls import Kernels  # noqa: E402

run = Kernels(sys.argv[1], *sys.argv[3:4])
rng = np.random.default_rng(11)
# A launch takes the emulator some tenths of a second.
shapes = [(130, 193), (64, 96)] if run.emulated else [(64, 96), (130, 193), (1, 1), (70, 200), (128, 192)]


def draw(shape, dtype):
    return rng.integers(-100, 100, shape).astype(dtype)


def shifted(x, *by):
    """x[i + by], zero outside."""
    out = np.zeros_like(x)
    at = [slice(max(-s, 0), max(min(n, n - s), 0)) for s, n in zip(by, x.shape)]
    of = [slice(max(s, 0), max(min(n, n + s), 0)) for s, n in zip(by, x.shape)]
    out[tuple(at)] = x[tuple(of)]
    return out


def same(what, got, want):
    wrong = np.argwhere(got != want)
    assert not len(wrong), f"{what}: {len(wrong)} wrong, the first at {wrong[0].tolist()}"
    print("ok", what)


for m, n in shapes:
    for r, q in ((0, 0), (-3, 5), (2, -8)):
        x, y = draw((m, n), np.float16), np.full((m, n), np.nan, np.float16)
        run("there_and_back", x, y, c.c_int32(r), c.c_int32(q))
        same(f"there_and_back {m}x{n} {r} {q}", y, shifted(x, r, q))
    x, y = draw((m, n), np.float16), np.full((m, n + 1), np.nan, np.float32)
    run("converted", x, y[:, :n])
    same(f"converted {m}x{n}", y[:, :n], x.astype(np.float32))
    x, y = draw((m, n), np.float32), np.full((m, 64), np.nan, np.float32)
    run("pipelined", x, y)
    padded = np.zeros((m, -(-n // 64) * 64), np.float32)
    padded[:, :n] = x
    same(f"pipelined {m}x{n}", y, padded.reshape(m, -1, 64).sum(1))
    for r in (0, 7):
        x, y = draw((m, n), np.float32), np.full((n, m), 1e9, np.float32)
        run("nest", x, y, c.c_int32(r))
        i, j = np.meshgrid(np.arange(m), np.arange(n), indexing="ij")
        other = j // 96 * 96 + 95 - j % 96 + r
        want = x + np.where(other < n, x[i, np.minimum(other, n - 1)], 0)
        same(f"nest {m}x{n} {r}", y, np.where(i % 64 != j % 96, want, 1e9).T)
    x = draw((m, n), np.float32)
    want = x * 3
    run("in_place", x, c.c_float(3))
    same(f"in_place {m}x{n}", x, want)
for shape in ((13, 41, 70), (1, 3, 5)):
    for r in (0, -2):
        x, y = draw(shape, np.int8), np.full(shape, 111, np.int8)
        run("bytes_3d", x, y, c.c_int32(r))
        same(f"bytes_3d {shape} {r}", y, shifted(x, 0, r, 0))
