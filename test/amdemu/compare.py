"""Vector instructions of float division, and those that give a mask of lanes: compares and classes.

Meanings as in AMD's ISA documents for MI200 and MI300, chapters VOP3 and VOPC.
"""
import numpy as np

from floats import F32, F64, U32, fma32, fma64
from memory import EmulatorError
from operands import EXEC, VCC, dword, put_scalar, result, source
from registry import op, pattern
from salu import COMPARE
from valu import valu

# ---- divisions: v_div_scale, v_div_fmas and v_div_fixup are the steps of LLVM's IEEE division

_EXTREMES = {"f32": (F32, 23, 127, 96, 64), "f64": (F64, 52, 1023, 768, 128)}


def _exponent(a):
    return np.frexp(a)[1] - 1


@pattern(r"v_div_scale_(f32|f64)")
def _div_scale(inst, found):
    """D = S0 scaled so that the steps neither overflow nor underflow; VCC says whether v_div_fmas must scale back.

    S0 is the denominator (S1) or the numerator (S2). Conditions as in the ISA document, VOP3B.
    """
    inst.results = 2
    of, mantissa, bias, far, step = _EXTREMES[found[1]]
    kind = "f" if found[1] == "f32" else "d"
    s0, s1, s2 = (source(inst, k, kind) for k in range(3))
    put, mask = result(inst, kind), inst.ops[1].n

    def run(m):
        a, den, num = (np.broadcast_to(get(m), (m.n, m.L)) for get in (s0, s1, s2))
        is_den, is_num = a == den, a == num
        up, down = of(2.0**step), of(2.0**-step)
        tiny = of(2.0)**of(1 - bias)
        gap = _exponent(num) - _exponent(den)
        reciprocal_subnormal = np.abs(1 / den) < tiny
        quotient_subnormal = np.abs(num.astype(np.longdouble) / den) < tiny
        out, post = a.copy(), np.zeros(a.shape, bool)
        nothing = (num == 0) | (den == 0)
        cases = [(nothing, np.full(a.shape, np.nan, of), False),
                 (gap >= far, np.where(is_den, a * up, a), True),
                 (np.abs(den) < tiny, a * up, False),
                 (reciprocal_subnormal & quotient_subnormal, np.where(is_den, a * down, a), True),
                 (reciprocal_subnormal, a * down, False),
                 (quotient_subnormal, np.where(is_num & ~is_den, a * up, a), True),
                 (_exponent(num) <= mantissa - bias, a * up, False)]
        left = np.ones(a.shape, bool)
        for condition, value, flag in cases:
            now = left & condition
            out, post = np.where(now, value, out), np.where(now, flag, post)
            left &= ~condition
        put(m, out.astype(of))
        m.set_mask(mask, post & m.ex)
    return run


@pattern(r"v_div_fmas_(f32|f64)")
def _div_fmas(inst, found):
    of, _, bias, _, step = _EXTREMES[found[1]]
    kind = "f" if found[1] == "f32" else "d"
    fma = fma32 if kind == "f" else fma64
    a, b, c, put = source(inst, 0, kind), source(inst, 1, kind), source(inst, 2, kind), result(inst, kind)

    def run(m):
        addend = np.broadcast_to(c(m), (m.n, m.L))
        value = fma(a(m), b(m), addend)
        up = np.abs(addend) >= of(2.0)     # a result that was scaled down goes up again, and the other way round
        scaled = value * np.where(up, of(2.0**step), of(2.0**-step))
        put(m, np.where(m.get_mask(VCC), scaled, value))
    return run


def _fixup(quotient, den, num):
    with np.errstate(all="ignore"):
        exact = (num.astype(np.longdouble) / den).astype(quotient.dtype)
    special = ~np.isfinite(den) | ~np.isfinite(num) | (den == 0) | (num == 0) | ~np.isfinite(exact) | (exact == 0)
    return np.where(special, exact, np.copysign(np.abs(quotient), exact))


valu("v_div_fixup_f32", "f", _fixup)
valu("v_div_fixup_f64", "d", _fixup)
valu("v_div_fixup_f16 v_div_fixup_legacy_f16", "h", _fixup)


# ---- compares

_FLOAT_COMPARE = dict(COMPARE, nlt=lambda a, b: ~(a < b), nle=lambda a, b: ~(a <= b), ngt=lambda a, b: ~(a > b),
                      nge=lambda a, b: ~(a >= b), neq=np.not_equal, nlg=lambda a, b: ~((a < b) | (a > b)),
                      lg=lambda a, b: (a < b) | (a > b), o=lambda a, b: ~(np.isnan(a) | np.isnan(b)),
                      u=lambda a, b: np.isnan(a) | np.isnan(b))
_COMPARE_KINDS = {"f16": "h", "f32": "f", "f64": "d", "i16": "I", "u16": "U", "i32": "i", "u32": "u", "i64": "Q", "u64": "q"}


def _mask_result(inst, writes_exec):
    """Stores a lane mask into the compare's scalar result."""
    target = inst.ops[0].n if inst.results else None

    def store(m, lanes):
        lanes = np.broadcast_to(lanes, (m.n, m.L)) & m.ex
        if target is not None and target != EXEC:
            m.set_mask(target, lanes)
        if writes_exec:
            m.set_mask(EXEC, lanes)
    return store


@pattern(r"v_cmp(x?)_(?!class)(\w+?)_(f16|f32|f64|[iu](?:16|32|64))")
def _compare(inst, found):
    kind = _COMPARE_KINDS[found[3]]
    compare = (_FLOAT_COMPARE if kind in "hfd" else COMPARE).get(found[2])
    if compare is None:
        raise EmulatorError(f"not implemented: {inst}")
    inst.results = len(inst.ops) - 2
    first, second, store = source(inst, 0, kind), source(inst, 1, kind), _mask_result(inst, bool(found[1]))
    return lambda m: store(m, compare(first(m), second(m)))


@pattern(r"v_cmp(x?)_class_(f16|f32|f64)")
def _class(inst, found):
    """Bits: signalling NaN, quiet NaN, -inf, -normal, -subnormal, -0, +0, +subnormal, +normal, +inf."""
    inst.results = len(inst.ops) - 2
    kind, tiny = {"f16": ("h", 2.0**-14), "f32": ("f", 2.0**-126), "f64": ("d", 2.0**-1022)}[found[2]]
    get, wanted, store = source(inst, 0, kind, flush=False), source(inst, 1, "u"), _mask_result(inst, bool(found[1]))

    def run(m):
        a, sign = get(m), np.signbit(get(m))
        finite = np.where(a == 0, np.where(sign, 5, 6), np.where(np.abs(a) < tiny, np.where(sign, 4, 7), np.where(sign, 3, 8)))
        number = np.where(np.isnan(a), 1, np.where(np.isinf(a), np.where(sign, 2, 9), finite)).astype(U32)
        store(m, ((wanted(m) >> number) & U32(1)) != 0)
    return run


@op("v_readfirstlane_b32")
def _readfirstlane(inst):
    get, put = dword(inst.ops[1]), put_scalar(inst.ops[0])

    def run(m):
        values = np.broadcast_to(get(m), (m.n, m.L))
        put(m, values[np.arange(m.n), m.ex.argmax(1)])
    return run
