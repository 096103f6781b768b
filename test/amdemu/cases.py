"""What the kernels of Inputs/*.cl must compute, in numpy."""
from dataclasses import dataclass, field

import numpy as np

I32 = np.int32


@dataclass
class Case:
    """One launch. Arguments of the kernel: all arrays, then the scalars. `expect`: array index -> values."""
    kernel: str
    grid: tuple
    block: tuple
    arrays: list
    scalars: list
    expect: dict
    tolerance: float = 0.0
    scale: object = 1.0     # the outputs times this are compared


@dataclass
class Suite:
    name: str
    source: str
    cases: list
    flags: list = field(default_factory=lambda: ["-O2"])


def _single(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def _small(rng, *shape):
    """Integers whose products and sums are exact everywhere."""
    return rng.integers(-4, 5, shape).astype(np.float32)


def _lanes(values, wave):
    """What wave_ops writes for one wave's values."""
    lane, out, row = np.arange(wave), np.zeros((8, wave), I32), np.arange(wave) % 16
    out[0] = values[(lane * 7 + 3) % 64 % wave]
    out[1] = np.where(row >= 1, values[np.maximum(lane - 1, 0)], -1)
    out[2] = values[(lane & ~3) + np.array([2, 3, 0, 1])[lane & 3]]
    out[3] = values[lane ^ 1]
    out[4] = values[5]
    out[5] = values[0] + 1
    out[6][(lane * 5 + 1) % 64 % wave] = values[lane]
    out[7] = values[(lane & ~15) + 15 - row]
    return out


def basic(wave):
    rng, out = np.random.default_rng(1), []
    a, b = _single(rng, 1000), _single(rng, 1000)
    out.append(Case("vadd", (4, 1, 1), (256, 1, 1), [a, b, np.zeros(1000, np.float32)], [1000], {2: a + b}))
    a = rng.integers(-8, 8, 2000).astype(np.float32)
    sums = np.array([a[i * 512:(i + 1) * 512].sum() for i in range(4)], np.float32)
    out.append(Case("reduce_lds", (4, 1, 1), (256, 1, 1), [a, np.zeros(4, np.float32)], [2000], {1: sums}))
    a = rng.integers(0, 1000, 64).astype(I32)
    expected = np.concatenate([_lanes(a[at:at + wave], wave) for at in range(0, 64, wave)], 1)
    out.append(Case("wave_ops", (1, 1, 1), (64, 1, 1), [a, np.zeros((8, 64), I32)], [], {1: expected}))
    index = rng.integers(0, 1000, 64).astype(I32)
    expected = np.array([sum((index[(t + i) & 63] % 40)**2 + t for i in range(16)) for t in range(64)], I32)
    out.append(Case("scratch", (1, 1, 1), (64, 1, 1), [index, np.zeros(64, I32)], [], {1: expected}))
    x = rng.uniform(-3, 3, 128).astype(np.float32)
    d = x.astype(np.float64)
    expected = np.stack([2**d, np.log2(d * d + 1), 1 / (d + 3.5), 1 / np.sqrt(d * d + .5), np.sin(2 * np.pi * d),
                         np.roll(d, -1) / (d + 5), d * d + 1, x.astype(np.float16).astype(np.float64)]).astype(np.float32)
    out.append(Case("mathk", (2, 1, 1), (64, 1, 1), [x, np.zeros((8, 128), np.float32)], [128], {1: expected}, 2e-5))
    key, v = rng.integers(0, 64, 256).astype(I32), rng.integers(-4, 4, 256).astype(np.float32)
    count, most, total = np.bincount(key & 15, minlength=16).astype(I32), np.zeros(16, I32), np.zeros(16, np.float32)
    np.maximum.at(most, key & 15, np.arange(256))
    np.add.at(total, key & 15, v)
    out.append(Case("atom", (4, 1, 1), (64, 1, 1), [np.zeros(32, I32), np.zeros(16, np.float32), key, v], [],
                    {0: np.concatenate([count, most]), 1: total}))
    a, expected = np.arange(1, 257, dtype=I32), np.zeros(320, I32)
    expected[:192], expected[256:] = a[:192], a[16:80]
    out.append(Case("bufld", (1, 1, 1), (64, 1, 1), [a, np.zeros(320, I32)], [192 * 4], {1: expected}))
    return out


def encode_fp8(values, bias=7):
    """8-bit words (4 exponent bits) of values that the format has."""
    mantissa, exponent = np.frexp(np.abs(values))
    word = np.where(values == 0, 0, ((exponent - 1 + bias) << 3) | np.round((mantissa * 2 - 1) * 8).astype(int))
    return (((np.signbit(values) & (values != 0)).astype(np.uint8) << 7) | word.astype(np.uint8)).astype(np.uint8)


def _product(rng, kernel, tile, threads, m, n, k, form="f16", arch=""):
    a, b = _small(rng, m, k), _small(rng, k, n)
    if form == "f16":
        x, y = a.astype(np.float16), b.astype(np.float16)
    elif form == "bf16":
        x, y = [(v.view(np.uint32) >> 16).astype(np.uint16) for v in (a, b)]
    else:
        bias = 8 if arch == "gfx942" else 7
        x, y = encode_fp8(a, bias), encode_fp8(np.ascontiguousarray(b.T), bias)
    return Case(kernel, (n // tile, m // tile, 1), (threads, 1, 1), [x, y, np.zeros((m, n), np.float32)], [n, k], {2: a @ b})


def mfma(arch):
    rng = np.random.default_rng(2)
    out = [_product(rng, "mfma16", 16, 64, 32, 48, 64), _product(rng, "mfma32", 32, 64, 32, 64, 32),
           _product(rng, "mfma16bf", 16, 64, 32, 32, 32, "bf16"), _product(rng, "gemm64", 64, 256, 128, 64, 96)]
    if arch != "gfx90a":
        out.append(_product(rng, "mfma16fp8", 16, 64, 32, 32, 64, "fp8", arch))
    if arch == "gfx950":
        out.append(_product(rng, "mfma16k32", 16, 64, 32, 32, 64))
    return out


def more(arch):
    rng, one = np.random.default_rng(3), (64, 1, 1)
    x = rng.standard_normal((32, 256)).astype(np.float16)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    out = [Case("softmax", (32, 1, 1), one, [x, np.zeros_like(x)], [], {1: (e / e.sum(1, keepdims=True)).astype(np.float32)}, 1e-3)]
    if arch != "gfx90a":
        a, b = rng.integers(-128, 128, (32, 64)).astype(np.int8), rng.integers(-128, 128, (48, 64)).astype(np.int8)
        out.append(Case("mfma_i8", (3, 2, 1), one, [a, b, np.zeros((32, 48), I32)], [48, 64], {2: a.astype(I32) @ b.T.astype(I32)}))
        a = rng.integers(0, 1 << 30, 512).astype(I32)
        out.append(Case("g2l", (2, 1, 1), one, [a, np.zeros(512, I32)], [], {1: a.reshape(8, 64)[:, ::-1].reshape(-1)}))
    h, p = rng.uniform(-4, 4, (128, 2)).astype(np.float16), rng.integers(-10**6, 10**6, 128).astype(I32)
    u, i = rng.integers(-10**9, 10**9, 128), np.arange(128)

    def quotient(a, b):
        return np.trunc(a / b).astype(np.int64)

    q = quotient(p.astype(np.int64), 7) + (p - 13 * quotient(p.astype(np.int64), 13)) + quotient(p.astype(np.int64), i + 3)
    y = (h.astype(np.float64)**2 + np.array([.5, -1.5])).astype(np.float16)
    out.append(Case("mixed", (2, 1, 1), one, [h, np.zeros_like(h), p, np.zeros_like(p), u, np.zeros_like(u)], [],
                    {1: y.astype(np.float32), 3: q.astype(I32), 5: u * u + (u >> 3) - i * 1000003}, 2e-3))
    if arch == "gfx950":
        a = np.arange(128, dtype=I32)
        x, y = a[:64].reshape(4, 16), a[64:].reshape(4, 16)
        swapped = [x[:2], y[:2], x[2:], y[2:], x[0], y[0], x[2], y[2], x[1], y[1], x[3], y[3]]
        out.append(Case("plswap", (1, 1, 1), one, [a, np.zeros(256, I32)], [], {1: np.concatenate([s.ravel() for s in swapped])}))
    return out


def wave32_matrix(arch):
    rng, one = np.random.default_rng(4), (32, 1, 1)
    a, b = rng.integers(-128, 128, (16, 16)).astype(np.int8), rng.integers(-128, 128, (16, 16)).astype(np.int8)
    out = [Case("wi8", (1, 1, 1), one, [a, b, np.zeros((16, 16), I32)], [], {2: a.astype(I32) @ b.T.astype(I32)})]
    a, b = _small(rng, 16, 16), _small(rng, 16, 16)
    out.append(Case("wf16", (1, 1, 1), one, [a.astype(np.float16), b.astype(np.float16), np.zeros((16, 16), np.float16)], [], {2: a @ b}))
    if arch == "gfx1201":
        a, b = _small(rng, 16, 16), _small(rng, 16, 16)
        out.append(Case("wfp8", (1, 1, 1), one, [encode_fp8(a), encode_fp8(b), np.zeros((16, 16), np.float32)], [], {2: a @ b.T}))
    return out


def gfx950():
    rng, one = np.random.default_rng(5), (64, 1, 1)
    a, b = _small(rng, 16, 128), _small(rng, 16, 128)
    scale_a, scale_b = [rng.integers(125, 130, (16, 4)).astype(np.uint8) for _ in range(2)]
    # The kernel hands lane group g the bytes 32g .. 32g+31 of a row; the hardware reads byte j as k = 16g + j for j < 16, and as
    # k = 64 + 16g + j - 16 above: permute before scaling.
    order = np.array([16 * g + j if j < 16 else 64 + 16 * g + j - 16 for g in range(4) for j in range(32)])
    x, y = np.zeros_like(a), np.zeros_like(b)
    x[:, order], y[:, order] = a, b
    x, y = [v * np.repeat(2.0**(s.astype(int) - 127), 32, 1) for v, s in ((x, scale_a), (y, scale_b))]
    out = [Case("scaled", (1, 1, 1), one, [encode_fp8(a), encode_fp8(b), scale_a, scale_b, np.zeros((16, 16), np.float32)], [],
                {4: (x @ y.T).astype(np.float32)}, 1e-6)]
    a, b = _small(rng, 32, 16), _small(rng, 32, 16)
    out.append(Case("m32k16", (1, 1, 1), one, [a.astype(np.float16), b.astype(np.float16), np.zeros((32, 32), np.float32)], [], {2: a @ b.T}))
    lane, j = np.arange(64)[:, None], np.arange(4)[None]
    expected = (lane // 16 * 16 + lane % 16 // 4 + 4 * j) * 4 + lane % 4
    out.append(Case("dstr", (1, 1, 1), one, [np.zeros((64, 4), np.int16)], [], {0: expected.astype(np.int16)}))
    return out


def suites(arch):
    """The suites of a target."""
    wave = 32 if arch.startswith("gfx1") else 64
    flags = ["-O2", "-DBUFFLAGS=" + ("0x31016000" if wave == 32 else "0x27000")]
    out = [Suite("basic", "basic.cl", basic(wave), flags)]
    import arithmetic
    out.append(Suite("arith", "arith.cl", arithmetic.cases()))
    if wave == 32:
        out.append(Suite("wmma", "wmma.cl", [_product(np.random.default_rng(6), "wmma16", 16, 32, 32, 48, 64)]))
        out.append(Suite("matrix32", "matrix32.cl", wave32_matrix(arch)))
    else:
        out.append(Suite("mfma", "mfma.cl", mfma(arch)))
        out.append(Suite("more", "more.cl", more(arch)))
    if arch == "gfx950":
        out.append(Suite("gfx950", "gfx950.cl", gfx950()))
    return out
