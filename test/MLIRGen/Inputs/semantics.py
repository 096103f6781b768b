"""Runs the kernels of semantics.tile on the CPU and compares them with numpy and with Python's own operators.

usage: semantics.py LIBRARY.so HARNESS-FOLDER
"""
import ctypes as c
import sys

import numpy as np

sys.path.insert(0, sys.argv[2])
import rt  # noqa: E402

lib = c.CDLL(sys.argv[1])
rng = np.random.default_rng(7)


def tensor(array):
    t = rt.Tensor()
    t.data = array.ctypes.data
    t.device = rt.Device(1, 0)
    t.ndim = array.ndim
    code, bits = rt.CODES[str(array.dtype)]
    t.dtype = rt.DType(code, bits, 1)
    t.shape = (c.c_int64 * max(array.ndim, 1))(*array.shape)
    return t


def run(kernel, *args):
    launch = rt.Launch()
    launch.struct_size = c.sizeof(rt.Launch)
    launch.device = rt.Device(0, -1)
    launch.variant = -1
    keep = [tensor(a) if isinstance(a, np.ndarray) else a for a in args]
    passed = [c.byref(k) if isinstance(k, rt.Tensor) else k for k in keep]
    status = getattr(lib, kernel)(c.byref(launch), *passed)
    assert status == 0, f"{kernel}: status {status}"


def same(what, got, want):
    ok = (got == want) | ((got != got) & (want != want))
    assert ok.all(), f"{what}: {got[~ok][:5]} instead of {want[~ok][:5]} at {np.argwhere(~ok)[:5].tolist()}"


def saturated(values, dtype):
    info = np.iinfo(dtype)
    cut = np.nan_to_num(np.trunc(values.astype(np.float64)), nan=0.0, posinf=info.max, neginf=info.min)
    return np.array([min(max(int(v), info.min), info.max) for v in cut], dtype)


def casts():
    special = [0.0, -0.0, 0.9, -0.9, 255.5, 256.0, -1.0, 2147483648.0, 2147483520.0, -2147483648.0, -2147483904.0, 1e30,
               -1e30, np.inf, -np.inf, np.nan, 65504.0, 65520.0, 1e-8]
    f = np.array(special + list(rng.normal(0, 1e3, 314)), np.float32)
    n = len(f)
    i, u, h, b = np.zeros(n, np.int32), np.zeros(n, np.uint8), np.zeros(n, np.float16), np.zeros(n, np.int8)
    run("casts", f, i, u, h, b)
    same("int32", i, saturated(f, np.int32))
    same("uint8", u, saturated(f, np.uint8))
    with np.errstate(over="ignore"):
        same("float16", h, f.astype(np.float16))
    same("isnan", b, np.isnan(f).astype(np.int8))


def divisions():
    n = 500
    a = rng.integers(-50, 50, n).astype(np.int32)
    d = rng.integers(-9, 9, n).astype(np.int32)
    a[0], d[0], d[1] = -2147483648, -1, 0  # no trap
    x = rng.normal(0, 50, n).astype(np.float32)
    y = rng.normal(0, 3, n).astype(np.float32)
    x[:4], y[:4] = [1.0, 6.0, -6.0, 7.5], [0.1, 0.1, 0.1, -2.5]
    q, r, t = (np.zeros(n, np.int32) for _ in range(3))
    fq, fr = np.zeros(n, np.float32), np.zeros(n, np.float32)
    run("divisions", a, d, q, r, t, x, y, fq, fr)
    ok = (d != 0) & ~((a == -2147483648) & (d == -1))
    same("//", q[ok], a[ok] // d[ok])
    same("%", r[ok], a[ok] % d[ok])
    same("truncmod", t[ok], np.fmod(a[ok], d[ok]))
    same("float //", fq, np.floor_divide(x, y))
    same("float %", fr, np.mod(x, y))


def rotate():
    x = rng.normal(0, 1, (16, 64)).astype(np.float32)
    y = np.zeros_like(x)
    run("rotate", x, y)
    same("rotate", y, np.concatenate([x[:, :32] - x[:, 32:], x[:, :32] + x[:, 32:]], 1))


def scatter():
    i = rng.permutation(64).astype(np.int32)
    y, want = np.zeros(64, np.float32), np.zeros(64, np.float32)
    run("scatter", i, y)
    want[i] = np.arange(64)
    same("scatter", y, want)


def run_time_extents():
    for m, n in [(1, 1), (3, 1023), (2, 1024), (2, 1025), (0, 5), (5, 2500)]:
        x = rng.normal(0, 1, (m, n)).astype(np.float32)
        y = np.full((m, n), 9, np.float32)
        run("positive", x, y)
        same(f"positive {m} {n}", y, np.where(x < 0, np.float32(9), x * 2))


def loops():
    for n in (0, 1, 5, 100):
        x = rng.integers(-5, 12, n).astype(np.float32)
        if n > 50:
            x[60] = 101
        y = np.zeros(4, np.float32)
        run("loops", x, y)
        total = back = np.float32(0)
        for v in x:
            if v > 100:
                break
            if v < 0:
                continue
            total += v
        for i in range(n - 1, -1, -3):
            back = np.float32(back * np.float32(0.5) + x[i])
        same(f"loops {n}", y[:2], np.array([total, back], np.float32))


def transposed():
    for m, n in [(64, 32), (1, 1), (65, 33), (200, 70)]:
        x = rng.normal(0, 1, (m, n)).astype(np.float32)
        y = np.zeros((n, m), np.float16)
        run("transposed", x, y)
        same(f"transposed {m} {n}", y, x.T.astype(np.float16))


def reductions():
    x = rng.integers(-1000, 1000, (64, 96)).astype(np.int32)
    u = rng.integers(0, 256, (64, 96)).astype(np.uint8)
    m, um, s = np.zeros(64, np.int32), np.zeros(64, np.uint8), np.zeros(96, np.int32)
    run("reductions", x, u, m, um, s)
    same("max", m, x.max(1))
    same("unsigned max", um, u.max(1))
    same("abssum", s, 7 + np.abs(x).sum(0).astype(np.int32))


def select_and_slices():
    x = rng.normal(0, 1, (40, 48)).astype(np.float32)
    y = np.zeros((8, 48), np.float32)
    run("slices", x, y, c.c_int32(3))
    want = np.zeros((8, 48), np.float32)
    want[2:6] = x[3:7]
    want[:, 47] = 5
    same("slices", y, want)


for test in (casts, divisions, rotate, scatter, run_time_extents, loops, transposed, reductions, select_and_slices):
    test()
    print("ok", test.__name__)
