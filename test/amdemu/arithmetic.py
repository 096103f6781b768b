"""What the kernels of Inputs/arith.cl must compute, in numpy: columns of 256 results each."""
import numpy as np

from cases import Case

COUNT = 256
GRID, BLOCK = (COUNT // 64, 1, 1), (64, 1, 1)


def _case(kernel, x, y, columns, tolerance=0.0):
    expected = np.stack([np.asarray(c).astype(x.dtype) if x.dtype.kind in "iu" else np.asarray(c) for c in columns])
    shape = (len(columns),) + x.shape
    return Case(kernel, GRID, BLOCK, [x, y, np.zeros(shape, x.dtype)], [], {2: expected.reshape(shape)}, tolerance)


def functions(rng):
    a = rng.uniform(-20, 20, COUNT).astype(np.float32)
    b = rng.uniform(-9, 9, COUNT).astype(np.float32)
    a[:6] = [0.5, 1.5, -2.5, 0, np.float32(1e-42), 87]
    b[5:9] = [0, np.inf, -np.inf, 1e-30]
    x, y = a.astype(np.float64), b.astype(np.float64)
    whole = np.floor(np.abs(x) + 0.5) * np.sign(x)
    exponent = np.nan_to_num(y, posinf=2**31 - 1, neginf=-2**31).astype(np.int64).astype(np.int32) & 15
    columns = [np.exp2(x), np.exp(x), np.log2(np.abs(x)), np.log(np.abs(x)), np.sqrt(np.abs(x)), x / y, 1 / x, np.floor(x),
               np.ceil(x), np.trunc(x), np.rint(x), whole, x * y + x, np.copysign(x, y), np.fmax(x, y),
               np.fmin(x, np.fmax(y, 0)), np.where(x < y, x * 0.5, y - 3), np.ldexp(x, exponent), a - np.floor(a),
               np.where(np.isinf(y), 2.0, 3.0)]
    return _case("functions", a, b, [np.asarray(c).astype(np.float32) for c in columns], 3e-7)


def tiny(rng):
    a = (rng.integers(-2**22, 2**22, COUNT) * 2.0**-149).astype(np.float32)
    b = (rng.integers(-2**22, 2**22, COUNT) * 2.0**-149).astype(np.float32)
    x = a.astype(np.float64)
    columns = [a + b, a * np.float32(0.5), np.sqrt(np.abs(x)), np.full(COUNT, 2.0**-140), np.log2(np.abs(x)), x / 3]
    scale = np.array([2.0**149, 2.0**149, 2.0**70, 2.0**149, 1, 2.0**149])[:, None]
    case = _case("tiny", a, b, [np.asarray(c).astype(np.float32) for c in columns], 2e-7)
    case.scale = scale
    return case


def _quotient(a, b):
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


def integers(rng):
    a = rng.integers(-2**31, 2**31, COUNT).astype(np.int32)
    b = rng.integers(-2**31, 2**31, COUNT).astype(np.int32) >> rng.integers(0, 28, COUNT).astype(np.int32)
    b[b == 0] = 7
    x, y = a.astype(np.int64), b.astype(np.int64)
    u, v = a.view(np.uint32).astype(np.int64), b.view(np.uint32).astype(np.int64)
    q = _quotient(x, y)
    text = [f"{n:032b}" for n in u]
    high = [int(m) * int(n) >> 32 for m, n in zip(u, v)]
    columns = [q, x - q * y, u // v, u % v, [32 - int(n | 1).bit_length() for n in u],
               [(int(n | 1 << 31) & -int(n | 1 << 31)).bit_length() - 1 for n in u], [t.count("1") for t in text],
               [int(t[::-1], 2) for t in text], a.byteswap().astype(np.int64), u << 7 | u >> 25, x * y >> 32, high,
               np.maximum(x, y), np.minimum(u, v), np.abs(x), (a << 12) >> 20, u >> 3 & 0x7FF, u & 0xFFFF | v << 16,
               np.where(x > y, x ^ y, ~(x & y)), x >> (v & 31), a.astype(np.int16).astype(np.int64) * b.astype(np.int16),
               (u & 255) + (v >> 8 & 255), (a >> 16).astype(np.int8), x * 100003 + y]
    return _case("integers", a, b, [np.asarray(c, np.int64).astype(np.int32) for c in columns])


def wide(rng):
    a = rng.integers(-2**63, 2**63 - 1, COUNT)
    b = rng.integers(-2**63, 2**63 - 1, COUNT) >> rng.integers(0, 60, COUNT)
    b[b == 0] = 7
    u, v, shift = a.view(np.uint64), b.view(np.uint64), b & 63
    q = [abs(int(m)) // abs(int(n)) * (1 if (m < 0) == (n < 0) else -1) for m, n in zip(a, b)]
    single = a.astype(np.float32).astype(np.float64)
    ones, zeros = [bin(int(n)).count("1") for n in u], [64 - int(n | np.uint64(1)).bit_length() for n in u]
    columns = [q, (u % v).view(np.int64), a * b, a + b, a - b, a >> shift, a << shift,
               (u >> shift.view(np.uint64)).view(np.int64), np.minimum(a, b), np.where(u < v, a, b), ones, zeros,
               [int(float(n)) for n in np.clip(a.astype(np.float64), -2.0**63, 2.0**63 - 1024)],
               [int(n) for n in np.clip(single, -2.0**63, 2.0**63 - 2**39)]]
    return _case("wide", a, b, [np.asarray(c, np.int64) for c in columns])


def doubles(rng):
    a, b = rng.uniform(-1000, 1000, COUNT), rng.uniform(-9, 9, COUNT)
    b[:3] = [0, np.inf, 1e-300]
    columns = [a / b, np.sqrt(np.abs(a)), a * b + 1.5, np.floor(a) - b, np.fmax(a, b), a.astype(np.float32).astype(np.float64), np.trunc(a),
               np.where(a < b, -a, np.abs(b)), np.rint(a)]
    return _case("doubles", a, b, columns, 1e-15)


def halves(rng):
    a, b = [rng.uniform(-6, 6, COUNT).astype(np.float16) for _ in range(2)]
    b[b == 0] = 1
    x, y = a.astype(np.float64), b.astype(np.float64)
    columns = [x + y, x * y, x / y, x * y + x, np.fmax(x, y), np.sqrt(np.abs(x)), np.exp2(x), np.floor(x), x * y, np.where(x < y, -x, y),
               np.trunc(x), x * np.float32(1e-4)]
    case = _case("halves", a, b, [c.astype(np.float16) for c in columns], 1e-3)
    case.tolerance = 0.0005
    return case


def packed(rng):
    a, b = [rng.uniform(-6, 6, (COUNT, 2)).astype(np.float16) for _ in range(2)]
    x, y = a.astype(np.float64), b.astype(np.float64)
    columns = [x + y, x - y, x * y, x * y + x, np.fmax(x, y), np.fmin(x, y[:, ::-1]), x[:, :1] * y, x[:, 1:] - y]
    return _case("packed", a, b, [c.astype(np.float16) for c in columns])


def shorts(rng):
    a, b = [rng.integers(-2**15, 2**15, (COUNT, 2)).astype(np.int16) for _ in range(2)]
    s = b & 15
    columns = [a + b, a - b, a * b, a << s, a >> s, np.maximum(a, b), np.minimum(a, b), a[:, ::-1]]
    return _case("shorts", a, b, columns)


def conversions(rng):
    a = rng.uniform(-120, 120, COUNT).astype(np.float32)
    b = rng.integers(-2**31, 2**31, COUNT).astype(np.int32)
    t, m, single = np.trunc(a), np.trunc(np.abs(a)), np.float32
    bits = a.view(np.uint32)
    bf16 = ((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(single)
    columns = [t, m, t, t, m, t, a.astype(np.float16), a, b, b.view(np.uint32), b >> 8 & 255, b >> 16, b.astype(np.int64) * 65537, bf16, bf16]
    case = _case("conversions", a, a, [np.asarray(c).astype(single) for c in columns])
    case.arrays[1] = b
    return case


def pairs(rng):
    a, b = [rng.standard_normal((COUNT, 2)).astype(np.float32) for _ in range(2)]
    x, y = a.astype(np.float64), b.astype(np.float64)
    columns = [a + b, a * b, x * y + x, a[:, ::-1] * b, a * 2, -x * y + 1]
    return _case("pairs", a, b, [np.asarray(c).astype(np.float32) for c in columns], 1.2e-7)


def cases():
    with np.errstate(all="ignore"):
        return [make(np.random.default_rng(10 + k)) for k, make in enumerate(
            (functions, tiny, integers, wide, doubles, halves, packed, shorts, conversions, pairs))]
