"""Packed arithmetic: two 16-bit or two 32-bit operations in one instruction, mixed precision, dot products."""
import numpy as np

from floats import (F16, F32, F64, I16, I32, U16, U32, bf16_values, bf16_words, flush16, fma16, fma32, fma_odd, fmax, fmin, maximum,
                    minimum)
from memory import EmulatorError
from operands import dword, put_dword
from registry import op, pattern

_FLOAT = {"add": np.add, "mul": np.multiply, "max": fmax, "min": fmin, "maximum": maximum, "minimum": minimum}
_INTEGER = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul_lo": lambda a, b: a * b, "max": np.maximum, "min": np.minimum,
            "mad": lambda a, b, c: a * b + c, "lshlrev": lambda a, b: b << (a & a.dtype.type(15)),
            "lshrrev": lambda a, b: b >> (a & a.dtype.type(15)), "ashrrev": lambda a, b: b >> (a & a.dtype.type(15))}


def _word(o, high, kind):
    """One 16-bit half of a packed source, as `kind`; a constant has its value in the low half only."""
    if o.is_vector:
        n, at = o.reg, int(high)
        return lambda m: m.VW[n, m.W, :, at].view(kind)
    if o.kind == "lit" and isinstance(o.value, float):
        value = np.array([[0 if high else int(np.array(o.value, F16).view(U16))]], U16).view(kind)
        return lambda m: value
    get = dword(o)
    return lambda m: ((get(m) >> U32(16 * int(high))) & U32(0xFFFF)).astype(U16).view(kind)


def _negated(get, negate):
    return (lambda m: -get(m)) if negate else get


def _halves(inst, kind):
    """For each result half the source fetchers, with op_sel and negation applied."""
    out = []
    for name, negation, default in (("op_sel", "neg_lo", 0), ("op_sel_hi", "neg_hi", 1)):
        gets = [_word(o, inst.bits(name, k, default), kind) for k, o in enumerate(inst.ops[1:])]
        out.append([_negated(g, kind == F16 and inst.bits(negation, k)) for k, g in enumerate(gets)])
    return out


def _join(low, high):
    return low.astype(U32) | (high.astype(U32) << U32(16))


@pattern(r"v_pk_(add|mul|fma|max|min|maximum|minimum)_f16")
def _pk_f16(inst, found):
    function = fma16 if found[1] == "fma" else _FLOAT[found[1]]
    halves, put, clamp = _halves(inst, F16), put_dword(inst.ops[0]), inst.mods.get("clamp")

    def one(m, gets):
        values = [get(m) for get in gets]
        if m.flushes_f16:
            values = [flush16(v) for v in values]
        out = function(*values)
        if clamp:
            out = np.clip(out, F16(0), F16(1))
        return np.ascontiguousarray(flush16(out) if m.flushes_f16 else out, F16).view(U16)
    return lambda m: put(m, _join(one(m, halves[0]), one(m, halves[1])))


@pattern(r"v_pk_(add|mul|fma|max|min|maximum|minimum)_bf16")
def _pk_bf16(inst, found):
    function = fma32 if found[1] == "fma" else _FLOAT[found[1]]
    halves, put = _halves(inst, U16), put_dword(inst.ops[0])
    signs = [[inst.bits(name, k) for k in range(3)] for name in ("neg_lo", "neg_hi")]

    def one(m, half):
        values = [bf16_values(get(m)) for get in halves[half]]
        values = [-v if negate else v for v, negate in zip(values, signs[half])]
        return bf16_words(function(*values))
    return lambda m: put(m, _join(one(m, 0), one(m, 1)))


@pattern(r"v_pk_(add|sub|mul_lo|max|min|mad|lshlrev|lshrrev|ashrrev)_(u16|i16|b16)")
def _pk_integer(inst, found):
    if inst.mods.get("clamp"):
        raise EmulatorError(f"clamp of integers: {inst}")
    function, kind = _INTEGER[found[1]], I16 if found[2] == "i16" else U16
    halves, put = _halves(inst, kind), put_dword(inst.ops[0])

    def one(m, gets):
        return np.ascontiguousarray(function(*[get(m) for get in gets])).view(U16)
    return lambda m: put(m, _join(one(m, halves[0]), one(m, halves[1])))


def _single(inst, k, high):
    """One 32-bit half of a packed float32 source."""
    o = inst.ops[1 + k]
    if o.is_vector or o.kind == "s":
        get = dword(o, int(high) if o.count > 1 else 0)
    elif high and o.value != 0:
        raise EmulatorError(f"the upper half of a constant: {inst}")
    else:
        get = dword(o)
    return lambda m: np.ascontiguousarray(get(m)).view(F32)


@pattern(r"v_pk_(add|mul|fma)_f32")
def _pk_f32(inst, found):
    function = fma32 if found[1] == "fma" else _FLOAT[found[1]]
    puts, halves = [put_dword(inst.ops[0]), put_dword(inst.ops[0], 1)], []
    for name, negation, default in (("op_sel", "neg_lo", 0), ("op_sel_hi", "neg_hi", 1)):
        gets = [_single(inst, k, inst.bits(name, k, default)) for k in range(len(inst.ops) - 1)]
        halves.append([_negated(g, inst.bits(negation, k)) for k, g in enumerate(gets)])

    def run(m):
        if m.flushes_f32:
            raise EmulatorError(f"packed float32 in a kernel that flushes subnormal numbers: {inst}")
        values = [np.ascontiguousarray(function(*[get(m) for get in gets]), F32).view(U32) for gets in halves]
        for put, value in zip(puts, values):
            put(m, value)
    return run


@op("v_pk_mov_b32")
def _pk_mov(inst):
    first, second = _single(inst, 0, inst.bits("op_sel", 0)), _single(inst, 1, inst.bits("op_sel", 1))
    low, high = put_dword(inst.ops[0]), put_dword(inst.ops[0], 1)

    def run(m):
        a, b = first(m).view(U32).copy(), second(m).view(U32).copy()
        low(m, a)
        high(m, b)
    return run


def _mixed(inst, k):
    """float32, or one float16 half where op_sel_hi says so."""
    o = inst.ops[1 + k]
    if inst.bits("op_sel_hi", k):
        half = _word(o, inst.bits("op_sel", k), F16)
        get = lambda m: half(m).astype(F32)                                # noqa: E731
    else:
        word = dword(o)
        get = lambda m: np.ascontiguousarray(word(m)).view(F32)            # noqa: E731
    # In v_fma_mix, neg_hi means absolute value and neg_lo negation; the disassembler prints |x| and -x.
    if o.abs:
        inner = get
        get = lambda m: np.abs(inner(m))                                   # noqa: E731
    return _negated(get, o.neg)


@op("v_fma_mix_f32 v_fma_mixlo_f16 v_fma_mixhi_f16 v_mad_mix_f32 v_mad_mixlo_f16 v_mad_mixhi_f16")
def _mix(inst):
    gets, put, clamp, target = [_mixed(inst, k) for k in range(3)], put_dword(inst.ops[0]), inst.mods.get("clamp"), inst.ops[0].reg
    to_single, to_low = inst.mnemonic.endswith("f32"), "lo" in inst.mnemonic

    def run(m):
        value = fma_odd(*[get(m) for get in gets])
        if clamp:
            value = np.clip(value, 0, 1)
        if to_single:
            put(m, np.ascontiguousarray(value.astype(F32)).view(U32))
            return
        half = np.ascontiguousarray(value.astype(F16)).view(U16).astype(U32)
        old = m.V[target, m.W]
        put(m, (old & U32(0xFFFF0000)) | half if to_low else (old & U32(0xFFFF)) | (half << U32(16)))
    return run


def _pieces(words, kind):
    """The 8- or 16-bit pieces of dwords [waves, lanes] as [waves, lanes, pieces]."""
    wide = np.ascontiguousarray(words)
    return wide.view(kind).reshape(*wide.shape, -1)


@pattern(r"v_dot(2|4)(c?)_(f32_f16|f32_bf16|i32_i8|u32_u8|i32_i16|u32_u16|i32_iu8)")
def _dot(inst, found):
    kind = {"f16": F16, "bf16": U16, "i8": np.int8, "u8": np.uint8, "i16": I16, "u16": U16, "iu8": np.int8}[found[3].split("_")[1]]
    first, second = dword(inst.ops[1]), dword(inst.ops[2])
    addend, put = dword(inst.ops[0] if found[2] else inst.ops[3]), put_dword(inst.ops[0])
    if any(name in inst.mods for name in ("op_sel", "op_sel_hi", "neg_lo", "neg_hi", "clamp")) and "bf16" not in found[3]:
        raise EmulatorError(f"modifiers of dot products are not implemented: {inst}")
    floats = found[3].startswith("f32")

    def widen(words):
        x = _pieces(words, kind)
        return bf16_values(x).astype(F64) if found[3].endswith("bf16") else x.astype(F64 if floats else np.int64)

    def run(m):
        total = (widen(np.broadcast_to(first(m), (m.n, m.L))) * widen(np.broadcast_to(second(m), (m.n, m.L)))).sum(2)
        c = np.ascontiguousarray(addend(m)).view(F32 if floats else I32)
        put(m, (total + c).astype(F32).view(U32) if floats else (total + c).astype(U32))
    return run
