"""Vector instructions on integers and floating-point numbers, and conversions.

Meanings as in AMD's ISA documents for MI200 and MI300 (chapters VOP1, VOP2, VOP3). Transcendental instructions give the
correctly rounded result, hardware may be one unit in the last place off; for float32 they flush subnormal numbers.
"""
import operator

import numpy as np

from floats import (F16, F32, F64, I16, I32, I64, U16, U32, U64, bf16_words, f16_toward_zero, fma16, fma32, fma64, fmax, fmin,
                    ldexp32, maximum, minimum, no_subnormals, through_f64, to_int)
from memory import EmulatorError
from operands import VCC, put_wide, result, source
from registry import op


def valu(names, kinds, function, accumulate=False):
    """Registers element-wise instructions. `kinds`: a letter for each source, then '>' and the result's (operands.py); without
    '>' all are the first letter. `accumulate`: the old result is the last source."""
    sources, _, out = kinds.partition(">")
    out = out or sources[0]

    @op(names)
    def build(inst):
        count = len(inst.ops) - 1
        letters = sources if len(sources) >= count else sources[0] * count
        gets = [source(inst, k, letters[k]) for k in range(count)]
        if accumulate:
            gets.append(_old(inst, out))
        put = result(inst, out)
        if len(gets) == 1:
            get, = gets
            return lambda m: put(m, function(get(m)))
        if len(gets) == 2:
            first, second = gets
            return lambda m: put(m, function(first(m), second(m)))
        if len(gets) == 3:
            first, second, third = gets
            return lambda m: put(m, function(first(m), second(m), third(m)))
        raise EmulatorError(f"not implemented: {inst}")


def _old(inst, kind):
    """The old value of the result, as a source without modifiers."""
    from decoder import Inst
    reader = Inst(inst.pc, inst.size, inst.text, ops=[inst.ops[0], inst.ops[0]])
    return source(reader, 0, kind)


def shift(b):
    return b & U32(31)


def _u64(a):
    return a.astype(U64)


# ---- integers

valu("v_mov_b32 v_accvgpr_write_b32 v_accvgpr_read_b32 v_accvgpr_mov_b32 v_accvgpr_write v_accvgpr_read", "u", np.copy)
valu("v_not_b32", "u", operator.invert)
for _names, _function in {
        "v_add_u32": operator.add, "v_sub_u32": operator.sub, "v_subrev_u32": lambda a, b: b - a, "v_and_b32": operator.and_,
        "v_or_b32": operator.or_, "v_xor_b32": operator.xor, "v_xnor_b32": lambda a, b: ~(a ^ b),
        "v_lshlrev_b32": lambda a, b: b << shift(a), "v_lshrrev_b32": lambda a, b: b >> shift(a),
        "v_mul_lo_u32 v_mul_lo_i32": operator.mul, "v_mul_hi_u32": lambda a, b: ((_u64(a) * _u64(b)) >> U64(32)).astype(U32),
        "v_mul_u32_u24": lambda a, b: (a & U32(0xFFFFFF)) * (b & U32(0xFFFFFF)),
        "v_mul_hi_u32_u24": lambda a, b: (_u64(a & U32(0xFFFFFF)) * _u64(b & U32(0xFFFFFF)) >> U64(32)).astype(U32),
        "v_mad_u32_u24": lambda a, b, c: (a & U32(0xFFFFFF)) * (b & U32(0xFFFFFF)) + c,
        "v_bfe_u32": lambda a, b, c: (a >> shift(b)) & ((U32(1) << shift(c)) - U32(1)),
        "v_bfi_b32": lambda a, b, c: (a & b) | (~a & c), "v_bfm_b32": lambda a, b: ((U32(1) << shift(a)) - U32(1)) << shift(b),
        "v_lshl_add_u32": lambda a, b, c: (a << shift(b)) + c, "v_lshl_or_b32": lambda a, b, c: (a << shift(b)) | c,
        "v_add_lshl_u32": lambda a, b, c: (a + b) << shift(c), "v_add3_u32": lambda a, b, c: a + b + c,
        "v_or3_b32": lambda a, b, c: a | b | c, "v_and_or_b32": lambda a, b, c: (a & b) | c,
        "v_xad_u32": lambda a, b, c: (a ^ b) + c, "v_xor3_b32": lambda a, b, c: a ^ b ^ c,
        "v_min_u32": np.minimum, "v_max_u32": np.maximum, "v_max3_u32": lambda a, b, c: np.maximum(np.maximum(a, b), c),
        "v_min3_u32": lambda a, b, c: np.minimum(np.minimum(a, b), c),
        "v_med3_u32": lambda a, b, c: np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c)),
        "v_alignbit_b32": lambda a, b, c: (((_u64(a) << U64(32)) | _u64(b)) >> _u64(shift(c))).astype(U32),
        "v_alignbyte_b32": lambda a, b, c: (((_u64(a) << U64(32)) | _u64(b)) >> _u64((c & U32(3)) * U32(8))).astype(U32),
        "v_sad_u32": lambda a, b, c: np.maximum(a, b) - np.minimum(a, b) + c}.items():
    valu(_names, "u", _function)
for _names, _function in {
        "v_mul_hi_i32": lambda a, b: ((a.astype(I64) * b) >> 32).astype(I32), "v_ashrrev_i32": lambda a, b: b >> (a & I32(31)),
        "v_min_i32": np.minimum, "v_max_i32": np.maximum, "v_mul_i32_i24": lambda a, b: _low24(a) * _low24(b),
        "v_mad_i32_i24": lambda a, b, c: _low24(a) * _low24(b) + c,
        "v_mul_hi_i32_i24": lambda a, b: ((_low24(a).astype(I64) * _low24(b)) >> 32).astype(I32),
        "v_max3_i32": lambda a, b, c: np.maximum(np.maximum(a, b), c),
        "v_min3_i32": lambda a, b, c: np.minimum(np.minimum(a, b), c),
        "v_med3_i32": lambda a, b, c: np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c))}.items():
    valu(_names, "i", _function)


def _low24(a):
    return (a << I32(8)) >> I32(8)


def _bit_field_signed(a, b, c):
    width = c & I32(31)
    back = (I32(32) - width) & I32(31)
    return np.where(width == 0, I32(0), ((a >> (b & I32(31))) << back) >> back)


def _leading(a):
    """Zero bits in front of the first one; -1 for zero."""
    return np.where(a == 0, U32(0xFFFFFFFF), U32(31) - np.floor(np.log2(np.maximum(a, 1).astype(F64))).astype(U32))


def _trailing(a):
    low = a & (~a + U32(1))
    return np.where(a == 0, U32(0xFFFFFFFF), np.log2(np.maximum(low, 1).astype(F64)).astype(U32))


def _reverse(a):
    for bits, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF)):
        a = ((a >> U32(bits)) & U32(mask)) | ((a & U32(mask)) << U32(bits))
    return a


def ones(a):
    """Number of one bits of each dword."""
    a = a - ((a >> U32(1)) & U32(0x55555555))
    a = (a & U32(0x33333333)) + ((a >> U32(2)) & U32(0x33333333))
    return (((a + (a >> U32(4))) & U32(0x0F0F0F0F)) * U32(0x01010101)) >> U32(24)


def _permute_bytes(a, b, select):
    code = int(select.flat[0])
    if code & 0xF8F8F8F8 == 0 and (select == code).all():     # one permutation for all lanes, no signs or constants
        out = U32(0)
        for k in range(4):
            byte = code >> 8 * k & 7
            out = out | ((a if byte > 3 else b) >> U32(8 * (byte & 3)) & U32(255)) << U32(8 * k)
        return out
    pool, out = (_u64(a) << U64(32)) | _u64(b), U32(0)
    for k in range(4):
        code = (select >> U32(8 * k)) & U32(255)
        byte = (pool >> _u64(np.minimum(code, 7) * U32(8))) & U64(255)
        sign = (pool >> _u64(U32(16) * (np.clip(code, 8, 11) - U32(8)) + U32(15))) & U64(1)
        byte = np.where(code < 8, byte, np.where(code == 12, 0, np.where((code > 12) | (sign != 0), 255, 0)))
        out = out | (byte.astype(U32) << U32(8 * k))
    return out


valu("v_bfe_i32", "i", _bit_field_signed)
valu("v_ffbh_u32", "u", _leading)
valu("v_ffbl_b32", "u", _trailing)
valu("v_ffbh_i32 v_cls_i32", "i>u",
     lambda a: np.where((a == 0) | (a == -1), U32(0xFFFFFFFF), _leading(np.where(a < 0, ~a, a).view(U32))))
valu("v_bfrev_b32", "u", _reverse)
valu("v_bcnt_u32_b32", "u", lambda a, b: ones(a) + b)
valu("v_perm_b32", "u", _permute_bytes)
valu("v_sad_u8", "u", lambda a, b, c: sum(np.abs(((a >> U32(s)) & U32(255)).astype(I32) - ((b >> U32(s)) & U32(255)).astype(I32))
                                          for s in (0, 8, 16, 24)).astype(U32) + c)
valu("v_lshl_add_u64", "quq", lambda a, b, c: (a << _u64(b)) + c)
valu("v_lshlrev_b64", "uq>q", lambda a, b: b << _u64(a & U32(63)))
valu("v_lshrrev_b64", "uq>q", lambda a, b: b >> _u64(a & U32(63)))
valu("v_ashrrev_i64", "uQ>Q", lambda a, b: b >> (a & U32(63)).astype(I64))
valu("v_mov_b64", "q", np.copy)
# 16 bits: gfx9 zeroes the upper half of the result, later chips keep it.
for _names, _function in {"v_add_u16": operator.add, "v_sub_u16": operator.sub, "v_subrev_u16": lambda a, b: b - a,
                          "v_mul_lo_u16": operator.mul, "v_lshlrev_b16": lambda a, b: b << (a & U16(15)),
                          "v_lshrrev_b16": lambda a, b: b >> (a & U16(15)), "v_min_u16": np.minimum, "v_max_u16": np.maximum,
                          "v_mad_u16 v_mad_legacy_u16": lambda a, b, c: a * b + c,
                          "v_and_b16": operator.and_, "v_or_b16": operator.or_, "v_xor_b16": operator.xor}.items():
    valu(_names, "U", _function)
for _names, _function in {"v_ashrrev_i16": lambda a, b: b >> (a & I16(15)), "v_min_i16": np.minimum, "v_max_i16": np.maximum,
                          "v_add_i16": operator.add, "v_sub_i16": operator.sub, "v_mad_i16": lambda a, b, c: a * b + c}.items():
    valu(_names, "I", _function)
for _sign, _kind in (("u", "U"), ("i", "I")):
    valu(f"v_max3_{_sign}16", _kind, lambda a, b, c: np.maximum(np.maximum(a, b), c))
    valu(f"v_min3_{_sign}16", _kind, lambda a, b, c: np.minimum(np.minimum(a, b), c))
    valu(f"v_med3_{_sign}16", _kind, lambda a, b, c: np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c)))
valu("v_mov_b16", "U", np.copy)
valu("v_pack_b32_f16", "hh>u", lambda a, b: a.view(U16).astype(U32) | (b.view(U16).astype(U32) << U32(16)))
valu("v_cvt_pk_u16_u32", "uu>u", lambda a, b: np.minimum(a, U32(0xFFFF)) | (np.minimum(b, U32(0xFFFF)) << U32(16)))
valu("v_cvt_pk_i16_i32", "ii>u", lambda a, b: (np.clip(a, -32768, 32767) & 0xFFFF).astype(U32)
     | ((np.clip(b, -32768, 32767) & 0xFFFF).astype(U32) << U32(16)))
valu("v_mad_i32_i16", "IIi>i", lambda a, b, c: a.astype(I32) * b.astype(I32) + c)
valu("v_mad_u32_u16", "UUu>u", lambda a, b, c: a.astype(U32) * b.astype(U32) + c)


@op("v_bitop3_b32")
def _bitop3(inst):
    """gfx950: any function of three bits; bit 4*a + 2*b + c of the table is its value."""
    table, gets, put = inst.number("bitop3"), [source(inst, k, "u") for k in range(3)], result(inst, "u")

    def run(m):
        values, out = [get(m) for get in gets], U32(0)
        for row in range(8):
            if table >> row & 1:
                term = U32(0xFFFFFFFF)
                for value, bit in zip(values, (4, 2, 1)):
                    term = term & (value if row & bit else ~value)
                out = out | term
        put(m, np.broadcast_to(out, (m.n, m.L)))
    return run


@op("v_mad_u64_u32 v_mad_i64_i32")
def _mad64(inst):
    inst.results = 2
    kind, wide = ("i", "Q") if inst.mnemonic == "v_mad_i64_i32" else ("u", "q")
    a, b, c, put = source(inst, 0, kind), source(inst, 1, kind), source(inst, 2, wide), put_wide(inst.ops[0])
    of = I64 if kind == "i" else U64
    return lambda m: put(m, np.broadcast_to(a(m).astype(of) * b(m).astype(of) + c(m), (m.n, m.L)).astype(U64))


@op("v_add_co_u32 v_sub_co_u32 v_subrev_co_u32 v_addc_co_u32 v_subb_co_u32 v_subbrev_co_u32")
def _carry(inst):
    inst.results = 2
    a, b, put, carry_out = source(inst, 0, "u"), source(inst, 1, "u"), result(inst, "u"), inst.ops[1]
    carry_in = inst.ops[4].n if len(inst.ops) > 4 else None
    add, reverse = "add" in inst.mnemonic, "rev" in inst.mnemonic

    def run(m):
        x, y = _u64(a(m)), _u64(b(m))
        x, y = (y, x) if reverse else (x, y)
        carry = m.get_mask(carry_in).astype(U64) if carry_in is not None else U64(0)
        total = np.broadcast_to(x + y + carry if add else x - y - carry, (m.n, m.L))
        put(m, total.astype(U32))
        if carry_out.kind == "s":
            m.set_mask(carry_out.n, ((total >> U64(32)) != 0) & m.ex)
    return run


@op("v_cndmask_b32 v_cndmask_b16")
def _cndmask(inst):
    negates, short = any(o.neg or o.abs for o in inst.ops[1:3]), inst.mnemonic.endswith("b16")
    kind = ("h" if negates else "U") if short else "f" if negates else "u"
    no, yes = source(inst, 0, kind, flush=False), source(inst, 1, kind, flush=False)
    put, mask = result(inst, "U" if short else "u"), inst.ops[3].n if len(inst.ops) > 3 else VCC
    bits = U16 if short else U32
    return lambda m: put(m, np.ascontiguousarray(np.where(m.get_mask(mask), yes(m), no(m))).view(bits))


# ---- floating point


_FLOAT = {"v_add": np.add, "v_sub": np.subtract, "v_subrev": lambda a, b: b - a, "v_mul": np.multiply, "v_max": fmax,
          "v_min": fmin, "v_max3": lambda a, b, c: fmax(fmax(a, b), c), "v_min3": lambda a, b, c: fmin(fmin(a, b), c),
          "v_med3": lambda a, b, c: fmax(fmin(a, b), fmin(fmax(a, b), c)), "v_maximum": maximum,
          "v_minimum": minimum, "v_maximum3": lambda a, b, c: maximum(maximum(a, b), c),
          "v_maxmin": lambda a, b, c: fmin(fmax(a, b), c), "v_minmax": lambda a, b, c: fmax(fmin(a, b), c),
          "v_minimum3": lambda a, b, c: minimum(minimum(a, b), c), "v_trunc": np.trunc, "v_floor": np.floor,
          "v_ceil": np.ceil, "v_rndne": np.rint, "v_fract": lambda a: a - np.floor(a)}
for _name, _function in _FLOAT.items():
    valu(f"{_name}_f32", "f", _function)
    valu(f"{_name}_f16", "h", _function)
    valu(f"{_name}_f64", "d", _function)
valu("v_mul_legacy_f32", "f", lambda a, b: np.where((a == 0) | (b == 0), F32(0), a * b))
valu("v_fma_f32 v_fmaak_f32 v_fmamk_f32", "f", fma32)
valu("v_mad_f32 v_madak_f32 v_madmk_f32", "f", lambda a, b, c: a * b + c)
valu("v_fmac_f32", "ff>f", fma32, accumulate=True)
valu("v_mac_f32", "ff>f", lambda a, b, c: a * b + c, accumulate=True)
valu("v_fma_f16 v_fmaak_f16 v_fmamk_f16 v_fma_legacy_f16", "h", fma16)
valu("v_fmac_f16", "hh>h", fma16, accumulate=True)
valu("v_mad_f16 v_mad_legacy_f16", "h", lambda a, b, c: a * b + c)
valu("v_mac_f16", "hh>h", lambda a, b, c: a * b + c, accumulate=True)
valu("v_fma_f64", "d", fma64)
valu("v_fmac_f64", "dd>d", fma64, accumulate=True)
for _name, _function in {"exp": np.exp2, "log": np.log2, "rcp": lambda a: 1 / a, "rcp_iflag": lambda a: 1 / a,
                         "rsq": lambda a: 1 / np.sqrt(a), "sin": lambda a: np.sin(2 * np.pi * a), "cos": lambda a: np.cos(2 * np.pi * a)}.items():
    valu(f"v_{_name}_f32 v_s_{_name}_f32", "f", no_subnormals(through_f64(_function)))
    valu(f"v_{_name}_f16", "h", (lambda f: lambda a: f(a.astype(F64)).astype(F16))(_function))
    valu(f"v_{_name}_f64", "d", _function)
valu("v_sqrt_f32", "f", np.sqrt)
valu("v_sqrt_f16", "h", lambda a: np.sqrt(a.astype(F32)).astype(F16))
valu("v_sqrt_f64", "d", np.sqrt)
valu("v_ldexp_f32", "fi>f", ldexp32)
valu("v_ldexp_f16", "hI>h", lambda a, b: np.ldexp(a.astype(F64), b.astype(I32)).astype(F16))
valu("v_ldexp_f64", "di>d", lambda a, b: np.ldexp(a, np.clip(b, -4000, 4000)))
valu("v_frexp_mant_f32", "f", lambda a: np.where(np.isfinite(a), np.frexp(a)[0], a))
valu("v_frexp_exp_i32_f32", "f>i", lambda a: np.where(np.isfinite(a), np.frexp(a)[1], 0).astype(I32))
valu("v_frexp_mant_f16", "h", lambda a: np.where(np.isfinite(a), np.frexp(a)[0], a))
valu("v_frexp_exp_i16_f16", "h>I", lambda a: np.where(np.isfinite(a), np.frexp(a)[1], 0).astype(I16))
valu("v_frexp_mant_f64", "d", lambda a: np.where(np.isfinite(a), np.frexp(a)[0], a))
valu("v_frexp_exp_i32_f64", "d>i", lambda a: np.where(np.isfinite(a), np.frexp(a)[1], 0).astype(I32))


# ---- conversions

valu("v_cvt_f32_u32", "u>f", lambda a: a.astype(F32))
valu("v_cvt_f32_i32", "i>f", lambda a: a.astype(F32))
valu("v_cvt_f64_u32", "u>d", lambda a: a.astype(F64))
valu("v_cvt_f64_i32", "i>d", lambda a: a.astype(F64))
valu("v_cvt_u32_f32", "f>u", lambda a: to_int(a, 0, 2**32 - 1))
valu("v_cvt_i32_f32", "f>i", lambda a: to_int(a, -2**31, 2**31 - 1).astype(I32))
valu("v_cvt_u32_f64", "d>u", lambda a: to_int(a, 0, 2**32 - 1))
valu("v_cvt_i32_f64", "d>i", lambda a: to_int(a, -2**31, 2**31 - 1).astype(I32))
valu("v_cvt_flr_i32_f32 v_cvt_floor_i32_f32", "f>i", lambda a: to_int(np.floor(a), -2**31, 2**31 - 1).astype(I32))
valu("v_cvt_rpi_i32_f32 v_cvt_nearest_i32_f32", "f>i", lambda a: to_int(np.floor(a + F32(0.5)), -2**31, 2**31 - 1).astype(I32))
valu("v_cvt_f16_f32", "f>h", lambda a: a.astype(F16))
valu("v_cvt_f32_f16", "h>f", lambda a: a.astype(F32))
valu("v_cvt_f64_f32", "f>d", lambda a: a.astype(F64))
valu("v_cvt_f32_f64", "d>f", lambda a: a.astype(F32))
valu("v_cvt_f16_u16", "U>h", lambda a: a.astype(F16))
valu("v_cvt_f16_i16", "I>h", lambda a: a.astype(F16))
valu("v_cvt_u16_f16", "h>U", lambda a: to_int(a, 0, 65535).astype(U16))
valu("v_cvt_i16_f16", "h>I", lambda a: to_int(a, -32768, 32767).astype(I16))
for _k in range(4):
    valu(f"v_cvt_f32_ubyte{_k}", "u>f", (lambda k: lambda a: ((a >> U32(8 * k)) & U32(255)).astype(F32))(_k))
valu("v_cvt_pkrtz_f16_f32", "ff>u", lambda a, b: f16_toward_zero(a) | (f16_toward_zero(b) << U32(16)))
valu("v_cvt_pk_bf16_f32", "ff>u", lambda a, b: bf16_words(a) | (bf16_words(b) << U32(16)))
valu("v_cvt_pk_f16_f32", "ff>u", lambda a, b: a.astype(F16).view(U16).astype(U32) | (b.astype(F16).view(U16).astype(U32) << U32(16)))
