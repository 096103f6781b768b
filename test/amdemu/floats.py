"""Number formats of the GPU that numpy lacks, and operations that numpy rounds differently."""
import numpy as np

U8, U16, U32, U64 = np.uint8, np.uint16, np.uint32, np.uint64
I16, I32, I64 = np.int16, np.int32, np.int64
F16, F32, F64 = np.float16, np.float32, np.float64


def bf16_values(words):
    """float32 values of bfloat16 words (any unsigned type)."""
    return (words.astype(U32) << U32(16)).view(F32)


def bf16_words(values):
    """bfloat16 words (uint32) of float32 values, rounded to nearest even; NaN stays NaN."""
    bits = np.ascontiguousarray(values, F32).view(U32)
    rounded = (bits + U32(0x7FFF) + ((bits >> U32(16)) & U32(1))) >> U32(16)
    return np.where(np.isnan(values), (bits >> U32(16)) | U32(0x40), rounded).astype(U32)


def round_to_odd(total, error):
    """float64 `total` with its rounding `error` folded into the last bit, so that rounding it again is exact."""
    bits = np.ascontiguousarray(total).view(I64)
    adjust = (error != 0) & np.isfinite(total) & ((bits & 1) == 0)
    return np.where(adjust, np.where((error > 0) == (total > 0), bits + 1, bits - 1), bits).view(F64)


def fma_odd(a, b, c):
    """a * b + c of float16 or float32 values in float64, rounded to odd: one more rounding gives the fused result."""
    product = np.multiply(a, b, dtype=F64)
    total = product + c
    back = total - product
    return round_to_odd(total, (product - (total - back)) + (c - back))


def fma32(a, b, c):
    return fma_odd(a, b, c).astype(F32)


def fma16(a, b, c):
    return fma_odd(a, b, c).astype(F16)


def fma64(a, b, c):
    """Fused in 80-bit arithmetic: exact enough for the values that the tests use."""
    return (a.astype(np.longdouble) * b + c).astype(F64)


def f16_toward_zero(values):
    """float16 words (uint32) of float32 values, rounded toward zero (v_cvt_pkrtz_f16_f32)."""
    half = values.astype(F16)
    words = half.view(U16)
    over = np.isfinite(values) & (np.abs(half.astype(F64)) > np.abs(values.astype(F64)))
    return np.where(over, words - U16(1), words).astype(U32)


def flush32(values):
    """float32 values, subnormal ones replaced by zeros of the same sign."""
    return np.where(np.abs(values) < F32(2.0**-126), np.copysign(F32(0), values), values)


def flush16(values):
    return np.where(np.abs(values) < F16(2.0**-14), np.copysign(F16(0), values), values)


def through_f64(function):
    """A float32 function evaluated in float64 and rounded once."""
    return lambda a: function(a.astype(F64)).astype(F32)


def no_subnormals(function):
    """The transcendental instructions for float32 take and give no subnormal numbers, whatever the mode says."""
    return lambda a: flush32(function(flush32(a)))


def to_int(values, low, high):
    """Rounded toward zero and clamped; NaN gives 0, as the v_cvt instructions do."""
    clean = np.where(np.isnan(values), 0, values.astype(F64))
    return np.clip(np.trunc(clean), low, high).astype(I64)


def ldexp32(a, exponent):
    return np.ldexp(a.astype(F64), np.clip(exponent, -400, 400)).astype(F32)


def tf32(values):
    """float32 values with 10 bits of mantissa, rounded to nearest even (the inputs of xf32 products)."""
    bits = np.ascontiguousarray(values, F32).view(U32)
    rounded = (bits + U32(0xFFF) + ((bits >> U32(13)) & U32(1))) & U32(0xFFFFE000)
    return np.where(np.isfinite(values), rounded, bits).view(F32)


def fp8_table(exponent_bits, mantissa_bits, bias, fnuz):
    """float32 values of all 256 words of an 8-bit format. `fnuz`: no infinity, no negative zero, 0x80 is NaN."""
    table = np.zeros(256)
    for word in range(256):
        exponent = (word >> mantissa_bits) & ((1 << exponent_bits) - 1)
        fraction = (word & ((1 << mantissa_bits) - 1)) / (1 << mantissa_bits)
        value = fraction * 2.0**(1 - bias) if exponent == 0 else (1 + fraction) * 2.0**(exponent - bias)
        if fnuz:
            value = np.nan if word == 0x80 else value
        elif mantissa_bits == 3 and word & 0x7F == 0x7F:
            value = np.nan
        elif mantissa_bits == 2 and exponent == 31:
            value = np.inf if fraction == 0 else np.nan
        table[word] = -value if word >> 7 else value
    return table.astype(F32)


FP4 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, 0, -.5, -1, -1.5, -2, -3, -4, -6], F32)
_FP8 = {}


def fp8_values(words, form, arch):
    """float32 values of fp8 (4 exponent bits) or bf8 (5) words; gfx942 has the fnuz forms, later chips OCP's."""
    fnuz = arch == "gfx942"
    if (form, fnuz) not in _FP8:
        _FP8[form, fnuz] = fp8_table(4, 3, 8 if fnuz else 7, fnuz) if form == "fp8" else fp8_table(5, 2, 16 if fnuz else 15, fnuz)
    return _FP8[form, fnuz][words]


def _extreme(function, of_zeros):
    """fmax or fmin in which -0 is below +0, as the chips have it."""
    def run(a, b):
        out = function(a, b)
        zero = out == 0
        return np.where(zero & (a == b), of_zeros(a, b), out) if zero.any() else out
    return run


fmax, fmin = _extreme(np.fmax, lambda a, b: a + b), _extreme(np.fmin, lambda a, b: -(-a - b))
maximum, minimum = _extreme(np.maximum, lambda a, b: a + b), _extreme(np.minimum, lambda a, b: -(-a - b))
