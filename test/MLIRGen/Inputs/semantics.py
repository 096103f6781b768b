"""Runs the kernels of semantics.tile and compares them with numpy and with Python's own operators.

usage: semantics.py LIBRARY.so HARNESS-FOLDER [ARCH]

On the CPU, or on ARCH as calls.py says.
"""
import ctypes as c
import sys

import numpy as np

sys.path.insert(0, sys.argv[2])
from calls import Float8, Kernels  # noqa: E402

run = Kernels(sys.argv[1], *sys.argv[3:4])
rng = np.random.default_rng(7)
# A launch takes the emulator some tenths of a second.
emulated = run.emulated is not None


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


def once_rounded(value, digits, largest):
    """The integer with so many digits that is nearest, an even one of two; infinite above the largest."""
    low = max(abs(value).bit_length() - digits, 0)
    kept, rest, half = abs(value) >> low, abs(value) & (1 << low) - 1, (1 << low) >> 1
    kept += low > 0 and (rest > half or rest == half and kept & 1)
    return float("inf" if kept << low > largest else kept << low) * (-1 if value < 0 else 1)


def integers_to_halves():
    """Integers of every length, most of them next to the middle of two bfloat16 numbers."""
    n, rows = 640, []
    for dtype in (np.int32, np.uint32, np.int64, np.uint64):
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        values = [low, high, 0, 1, 0x40400001, 0x4040000000000001 & high, -0x40400001]
        for i in range(len(values), n):
            length = int(rng.integers(1, high.bit_length() + 1))
            value = int.from_bytes(rng.bytes(8), "little") >> 64 - length | 1 << length - 1
            if i % 4 and length > 9:
                value = (value >> length - 9 | 1) << length - 9
                value += i % 4 - 2
            values.append(-value if i % 2 else value)
        rows.append(np.array([v if low <= v <= high else abs(v) & high for v in values], dtype))
    b, h = np.zeros((4, n), np.float32), np.zeros((4, n), np.float16)
    run("integers_to_halves", *rows, b, h)
    for row, bfloat16, float16 in zip(rows, b, h):
        same(f"{row.dtype} -> bfloat16", bfloat16, np.array([once_rounded(int(v), 8, 2**128) for v in row], np.float32))
        same(f"{row.dtype} -> float16", float16, np.array([once_rounded(int(v), 11, 65504) for v in row], np.float16))


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


def extremes():
    """NaN wins, and -0 is below +0; of zeros in a row a reduction takes any."""
    def order(v):
        return [v != v, v, not np.signbit(v)]

    def most(values):
        return np.float32(max(values, key=order))

    def least(values):
        return np.float32(min(values, key=lambda v: [v == v, v, not np.signbit(v)]))
    values = np.array([0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 1e-40], np.float32)
    x, y = rng.choice(values[:2], (8, 32)), rng.choice(values[:2], (8, 32))
    x[1:3], y[1:3] = rng.choice(values, (2, 32)), rng.choice(values, (2, 32))
    high, low, top, bottom = np.zeros_like(x), np.zeros_like(x), np.zeros(8, np.float32), np.zeros(8, np.float32)
    run("extremes", x, y, high, low, top, bottom)
    for what, got, want in (("max", high, [[most(p) for p in zip(*r)] for r in zip(x, y)]),
                            ("min", low, [[least(p) for p in zip(*r)] for r in zip(x, y)]),
                            ("reduce_max", top, [most(r) for r in x]), ("reduce_min", bottom, [least(r) for r in x])):
        want = np.array(want, np.float32)
        same(what, got, want)
        if what in ("max", "min"):
            same(what + " of zeros", np.signbit(got) & (got == 0), np.signbit(want) & (want == 0))


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

def bools():
    n = 100
    x = rng.integers(0, 3, n).astype(np.uint8)  # any non-zero byte is True
    y, z = np.zeros(n, np.uint8), np.zeros(n, np.uint8)
    w = rng.integers(-2**62, 2**62, n)
    want = (w << 3) + np.arange(n) ** 2
    run("bools", x, y, z, w)
    same("bool to uint8", y, (x != 0).astype(np.uint8))
    same("not", z, (x == 0).astype(np.uint8))
    same("int64", w, want)


def float8():
    # Every e4m3 value, the points between neighbours, and what saturates.
    codes = np.arange(256, dtype=np.int64)
    e, f = (codes >> 3) & 15, codes & 7
    value = np.where(e == 0, f / 8 * 2.0**-6, (1 + f / 8) * 2.0 ** (e - 7.0))
    value = np.where((codes & 127) == 127, np.nan, value) * np.where(codes & 128, -1, 1)
    positive = np.sort(value[:127])
    middle = (positive[1:] + positive[:-1]) / 2
    x = np.concatenate([positive, -positive, middle, np.nextafter(middle.astype(np.float32), np.float32(0)),
                        [448.0, 464.0, 1e9, np.inf, -np.inf, np.nan]]).astype(np.float32)
    y, z = np.zeros(len(x), np.uint8), np.zeros(len(x), np.float32)
    run("float8", x, Float8(y), z)
    def nearest(v):
        if v != v:
            return v
        v = min(max(float(v), -448.0), 448.0)
        k = np.abs(positive - abs(v))
        best = np.flatnonzero(k == k.min())
        pick = best[0] if len(best) == 1 else best[0] if best[0] % 2 == 0 else best[1]
        return np.copysign(positive[pick], v)
    same("float8", z, np.array([nearest(v) for v in x], np.float32))
    same("float8 codes", np.abs(value[y]).astype(np.float32), np.abs(z))


def products():
    a = rng.integers(-4, 4, (2, 32, 64)).astype(np.float32)
    b = rng.integers(-4, 4, (64, 48)).astype(np.float32)
    for twice in (1, 2):
        c_ = np.zeros((32, 48), np.float32)
        run("products", a, b, c_, c.c_int32(twice))
        want = 2 * (a[0] @ b) + a[1][:, :16] @ b[16:32] + (a[1] @ b if twice > 1 else 0)
        same("products", c_, want.astype(np.float32))


def strided():
    for m, n in [(16, 32), (17, 33), (1, 1), (40, 70)]:
        base = rng.normal(0, 1, (n, m)).astype(np.float32)
        y = np.zeros((m, n), np.float32)
        run("strided", base.T, y)
        pad = np.full((m, n + 2), -1, np.float32)
        pad[:, :n] = base.T
        same(f"strided {m} {n}", y, pad[:, :-2] + pad[:, 2:])


def several():
    for times in (1, 2):
        x = rng.normal(0, 1, 150).astype(np.float32)
        t, y = np.zeros_like(x), np.zeros_like(x)
        run("several", x, t, y, c.c_int32(times))
        same("several", y, (x * 2**times)[::-1])


def nested():
    x = rng.normal(0, 1, 64).astype(np.float32)
    y, z = np.zeros(64, np.float32), np.zeros((64, 8), np.int32)
    run("nested", x, y, z)
    want = np.zeros(64, np.float32)
    for i in range(64):
        s = np.float32(0)
        for v in x[:i]:
            if v > 1:
                continue
            if v < -1.5:
                break
            s += v
        want[i] = 0 if i % 3 == 0 else s
    same("nested", y, want)
    same("nested nests", z, (np.arange(64)[:, None] // 3 * 10 + np.arange(8) % 3).astype(np.int32))


def halves():
    x = rng.integers(-50, 50, (32, 256)).astype(np.float16)
    s, m = np.zeros(32, np.float16), np.zeros(32, np.float16)
    x[3, 7] = np.nan
    run("halves", x, s, m)
    same("half sum", s, x.astype(np.float32).sum(1).astype(np.float16))
    same("half max", m, x.max(1))


def choose():
    x, y = [rng.normal(0, 1, (12, 20)).astype(np.float32) for _ in range(2)]
    for p, want in ((1, x), (0, y)):
        z = np.zeros_like(x)
        run("choose", x, y, z, c.c_int32(p))
        same("choose", z, want)


def half_products():
    for m, n, k in [(32, 32, 16), (33, 47, 40)]:
        a = rng.integers(-3, 4, (m, k)).astype(np.float16)
        b = rng.integers(-3, 4, (k, n)).astype(np.float16)
        z = np.full((m, n), np.nan, np.float16)
        run("half_products", a, b, z)
        same("half_products", z, (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16))


def thin_products():
    """Matrices of one row, one column, one element."""
    r, m, q = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((1, 64), (64, 64), (64, 1)))
    x, y, z, d = (np.full(shape, np.nan, np.float32) for shape in ((1, 64), (64, 1), (64, 64), (1, 1)))
    run("thin_products", r, m, q, x, y, z, d)
    same("a row", x, r.astype(np.float32) @ m)
    same("a column", y, m.astype(np.float32) @ q + m.T.astype(np.float32) @ r.T)
    same("one step", z, q.astype(np.float32) @ r)
    same("one element", d, r.astype(np.float32) @ q)


# Offsets far from any tensor.
FAR = [-(2**63), -(2**63) + 40, -(2**62), -(2**32), -(2**31) - 1, 2**31 - 33, 2**31, 2**32, 2**62, 2**63 - 32, 2**63 - 1]
if emulated:
    FAR = FAR[::3] + FAR[-1:]


def edges():
    """A block anywhere: in the tensor, over each side, past it by any number."""
    m, n = 40, 72
    x = rng.normal(0, 1, (m, n)).astype(np.float32)
    for row, col in [(0, 0), (8, 8), (9, 9), (39, 71), (-1, 0), (0, -1), (-31, -63), (40, 0), (-32, 0), (3, 5)] + \
            [(r, 0) for r in FAR] + [(0, r) for r in FAR]:
        y, z, w = np.full((32, 64), np.nan, np.float32), np.full((32, 64), np.nan, np.float32), np.full((m, n), 7, np.float32)
        run("edges", x, y, z, w, c.c_int64(row), c.c_int64(col))
        rows, cols = [row + i for i in range(32)], [col + j for j in range(64)]
        want, stored = np.zeros((32, 64), np.float32), np.full((m, n), 7, np.float32)
        for i, r in enumerate(rows):
            for j, k in enumerate(cols):
                if 0 <= r < m and 0 <= k < n:
                    want[i, j] = stored[r, k] = x[r, k]
        same(f"shared from {row}, {col}", y, want)
        same(f"fragment from {row}, {col}", z, want)
        same(f"store to {row}, {col}", w, stored)


def orders():
    b, i, j = np.ogrid[0:3, 0:32, 0:64]
    key = b * 64 + j
    for n, low, wide in [(1, 0, 0), (100, -5, 62), (64, -(2**31), -(2**63)), (191, 2**31 - 1, 2**63 - 1), (192, 31, -1), (4000, -63, 63)]:
        p = np.zeros((3, 32, 64), np.int32)
        run("orders", np.zeros(n, np.float32), p, c.c_int32(low), c.c_int64(wide))
        tests = [key < n, key <= i + 60, 2 * i - j >= b * 9 - n, key == n, key != i + n, n > j - 3 * i, i - j < low, j > wide]
        same(f"orders of {n}, {low}, {wide}", p, sum((t + 0 * key) << k for k, t in enumerate(tests)).astype(np.int32))


def bit_fields():
    q = rng.integers(0, 256, (32, 64)).astype(np.uint8)
    w = rng.integers(0, 2**32, (32, 16)).astype(np.uint32)
    h = rng.integers(-(2**15), 2**15, (32, 64)).astype(np.int16)
    x, y, z = np.zeros((32, 128), np.float16), np.zeros((32, 128), np.float32), np.zeros((32, 128), np.float32)
    p, r = np.zeros((32, 64), np.float32), np.zeros((32, 64), np.float32)
    run("bit_fields", q, w, h, x, y, z, p, r)
    nibbles = np.stack([q & 15, q >> 4], 2).reshape(32, 128).astype(np.int32)
    same("float16", x, (nibbles - 8).astype(np.float16))
    backward = np.stack([q >> 4, q & 15], 2).reshape(32, 128)[::-1].astype(np.int32)
    same("bfloat16", y, (backward + 3).astype(np.float32))
    same("float32", z, (np.stack([w >> 4 * i & 15 for i in range(8)], 2).reshape(32, 128).astype(np.int32) - 8).astype(np.float32))
    same("fragment", p, (h.astype(np.int32) >> 9 & 31).astype(np.float32))
    same("signed", r, ((h.astype(np.int32) >> 12) - 1).astype(np.float32))


def far_products():
    """Copies that feed a product, from anywhere."""
    for m, n, k in [(80, 72, 136), (70, 67, 65)]:
        a = rng.integers(-3, 4, (m, k)).astype(np.float16)
        b = rng.integers(-3, 4, (k, n)).astype(np.float16)
        for row, col in [(0, 0), (8, 8), (16, 3), (-5, -60), (79, 71), (-64, 0), (0, 72)] + [(r, 0) for r in FAR] + [(0, r) for r in FAR]:
            x, y, z = np.zeros((64, k)), np.zeros((k, 64)), np.full((64, 64), np.nan, np.float32)
            for i in range(64):
                if 0 <= row + i < m:
                    x[i] = a[row + i]
                if 0 <= col + i < n:
                    y[:, i] = b[:, col + i]
            run("far_products", a, b, z, c.c_int64(row), c.c_int64(col))
            same(f"product at {row}, {col}", z, (x @ y).astype(np.float32))


for test in (casts, integers_to_halves, divisions, rotate, scatter, run_time_extents, loops, transposed, extremes, reductions, select_and_slices,
             bools,
             float8, products, strided, several, nested, halves, choose, half_products, thin_products, edges, orders,
             far_products, bit_fields):
    test()
    print("ok", test.__name__)
