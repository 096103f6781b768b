"""Operands: builders of functions that fetch a source or store a result for the waves that run.

Types of sources and results, one letter each:
  u, i  32-bit unsigned, signed     U, I  their low or high 16 bits (op_sel)     q, Q  64-bit unsigned, signed
  f     float32                     h     float16 (op_sel)                       d     float64
Sources come as [waves, lanes], or with an extent of 1 where all lanes or waves have the same value.
"""
import struct

import numpy as np

from floats import F16, F32, F64, I16, I32, I64, U16, U32, U64, flush16, flush32
from memory import EmulatorError

VCC, M0, EXEC = 106, 124, 126
POISON = 0xFFFFFFFF      # what nobody wrote: NaN in every format, and a wild address

_SCALARS = {"u": U32, "i": I32, "f": F32}


def literal_bits(o, kind):
    """The bits of a constant operand as an instruction of that operand type sees them."""
    value = o.value
    if kind == "d":
        if isinstance(value, float):
            return struct.unpack("<Q", struct.pack("<d", value))[0]
        return value & (1 << 64) - 1 if -16 <= value <= 64 and not o.text.lower().startswith("0x") else (value & 0xFFFFFFFF) << 32
    if kind in "qQ":
        return struct.unpack("<Q", struct.pack("<d", value))[0] if isinstance(value, float) else value & (1 << 64) - 1
    if isinstance(value, int):
        return value & 0xFFFFFFFF
    if kind in "hUI":
        return int(np.array(value, F16).view(U16))
    return struct.unpack("<I", struct.pack("<f", value))[0]


# ---- scalar operands: arrays [waves] or [1]


def scalar(o, k=0):
    """Dword k of a scalar source, uint32."""
    if o.kind == "s":
        n = o.n + k
        return lambda m: m.S[n, m.W]
    if o.kind == "lit":
        value = np.array([(literal_bits(o, "q") >> 32 if k else literal_bits(o, "u"))], U32)
        return lambda m: value
    if o.kind == "scc":
        return lambda m: m.scc[m.W].astype(U32)
    if o.kind in ("src_vccz", "src_execz"):
        register = VCC if o.kind == "src_vccz" else EXEC
        return lambda m: (~m.get_mask(register).any(1)).astype(U32)
    if o.kind in ("null", "off"):
        zero = np.zeros(1, U32)
        return lambda m: zero
    if o.kind in ("src_shared_base", "src_private_base"):
        from machine import PRIVATE_APERTURE, SHARED_APERTURE
        high = np.array([SHARED_APERTURE if "shared" in o.kind else PRIVATE_APERTURE], U32)
        low = np.zeros(1, U32)
        return lambda m: high if k else low
    raise EmulatorError(f"scalar operand {o.text}")


def scalar64(o):
    """A scalar source of 64 bits, uint64."""
    if o.kind == "lit":
        value = np.array([literal_bits(o, "q")], U64)
        return lambda m: value
    low, high = scalar(o), scalar(o, 1)
    return lambda m: low(m).astype(U64) | (high(m).astype(U64) << U64(32))


def put_scalar(o, k=0):
    if o.kind != "s":
        return lambda m, value: None
    n = o.n + k

    def put(m, value):
        m.S[n, m.W] = value
        if n in (EXEC, EXEC + 1):
            m.load_exec()
    return put


def put_scalar64(o):
    low, high = put_scalar(o), put_scalar(o, 1)

    def put(m, value):
        low(m, (value & U64(0xFFFFFFFF)).astype(U32))
        high(m, (value >> U64(32)).astype(U32))
    return put


# ---- vector operands


def dword(o, k=0):
    """Dword k of any source, uint32."""
    if o.is_vector:
        n = o.reg + k
        return lambda m: m.V[n, m.W]
    if o.kind == "lit":
        value = np.array([[literal_bits(o, "u")]], U32)
        return lambda m: value
    get = scalar(o, k)
    return lambda m: get(m)[:, None]


def _wide(o, kind):
    if o.kind == "lit":
        value = np.array([[literal_bits(o, kind)]], U64)
        return lambda m: value
    low, high = dword(o), dword(o, 1)
    return lambda m: low(m).astype(U64) | (high(m).astype(U64) << U64(32))


def _half(o, high, kind):
    """16 bits of a source: float16, uint16 or int16."""
    of = {"h": F16, "U": U16, "I": I16}[kind]
    if o.is_vector:
        n, at = o.reg, int(high or o.high)
        if kind == "h":
            return lambda m: m.VH[n, m.W, :, at]
        return lambda m: m.VW[n, m.W, :, at].view(of)
    if o.kind == "lit":
        value = np.array([[literal_bits(o, kind) >> (16 if high else 0) & 0xFFFF]], U16).view(of)
        return lambda m: value
    get = scalar(o)
    return lambda m: (get(m) >> U32(16 if high else 0)).astype(U16).view(of)[:, None]


def _word(o, kind):
    if o.is_vector and kind == "f":
        n = o.reg
        return lambda m: m.VF[n, m.W]
    if o.kind == "lit":
        value = np.array([[literal_bits(o, kind)]], U32).view(_SCALARS[kind])
        return lambda m: value
    get = dword(o)
    return get if kind == "u" else (lambda m: get(m).view(_SCALARS[kind]))


def _select_bytes(get, how, signed):
    """SDWA: one byte or short of the dword that `get` fetches."""
    if how == "DWORD":
        return get
    bits = 8 if how.startswith("BYTE") else 16
    shift = U32(bits * int(how[5:]))
    if signed:
        of = np.int8 if bits == 8 else I16
        return lambda m: (get(m) >> shift).astype(of).astype(I32).view(U32)
    return lambda m: (get(m) >> shift) & U32((1 << bits) - 1)


def _modified(get, o):
    if o.abs and o.neg:
        return lambda m: -np.abs(get(m))
    if o.abs:
        return lambda m: np.abs(get(m))
    if o.neg:
        return lambda m: -get(m)
    return get


def source(inst, k, kind, flush=True):
    """Fetches operand k of `inst` as `kind`; k counts the sources, from 0, after the `inst.results` first operands."""
    o = inst.ops[k + inst.results]
    special = inst.dpp and k == 0 or inst.sdwa
    if special:
        get = dword(o)
        if inst.dpp and k == 0:
            from lanes import permuted
            get = permuted(inst, get)
        if inst.sdwa:
            get = _select_bytes(get, inst.mods.get(f"src{k}_sel", "DWORD"), o.sext)
        get = _reinterpret(get, kind)
    elif kind in "qQ":
        get = _wide(o, kind)
        get = get if kind == "q" else _viewed(get, I64)
    elif kind == "d":
        get = _viewed(_wide(o, kind), F64)
    elif kind in "hUI":
        get = _half(o, inst.bits("op_sel", k), kind)
    else:
        get = _word(o, kind)
    if kind in "fhd":
        get = _modified(get, o)
        if flush:
            get = _flushed(get, kind)
    return get


def _viewed(get, of):
    return lambda m: np.ascontiguousarray(get(m)).view(of)


def _reinterpret(get, kind):
    if kind in "hUI":
        of = {"h": F16, "U": U16, "I": I16}[kind]
        return lambda m: get(m).astype(U16).view(of)
    return get if kind == "u" else (lambda m: np.ascontiguousarray(get(m)).view(_SCALARS[kind]))


def _flushed(get, kind):
    """Subnormal sources count as zero where the kernel's mode says so."""
    if kind == "f":
        def fetch(m):
            return flush32(get(m)) if m.flushes_f32 else get(m)
        return fetch
    if kind == "h":
        def fetch16(m):
            return flush16(get(m)) if m.flushes_f16 else get(m)
        return fetch16
    return get


# ---- results


def put_dword(o, k=0):
    """Stores dword k of a vector result in the active lanes; uint32, or anything that fits its bits."""
    if o.kind == "null":
        return lambda m, value, mask=None: None
    n = o.reg + k

    def put(m, value, mask=None):
        if mask is None:
            if m.full:
                m.V[n, m.W] = value
                return
            mask = m.ex
        if isinstance(m.W, slice):
            np.copyto(m.V[n, m.W], value, where=mask, casting="unsafe")
        else:
            m.V[n, m.W] = np.where(mask, value, m.V[n, m.W])
    return put


def put_wide(o):
    low, high = put_dword(o), put_dword(o, 1)

    def put(m, value, mask=None):
        low(m, (value & U64(0xFFFFFFFF)).astype(U32), mask)
        high(m, (value >> U64(32)).astype(U32), mask)
    return put


def put_half(o, high, keep):
    """Stores 16 bits (uint16) into one half of a register; the other half stays or becomes zero."""
    put, n = put_dword(o), o.reg
    high = high or o.high
    keep = keep or high or o.text.endswith(".l")

    def store(m, value, mask=None):
        value = value.astype(U32)
        if keep:
            old = m.V[n, m.W]
            value = (old & U32(0xFFFF)) | (value << U32(16)) if high else (old & U32(0xFFFF0000)) | value
        put(m, value, mask)
    return store


def _sdwa_put(inst, o):
    """SDWA: the result goes to one byte or short of the register."""
    put, n, how = put_dword(o), o.reg, inst.mods.get("dst_sel", "DWORD")
    if how == "DWORD":
        return put
    bits = 8 if how.startswith("BYTE") else 16
    shift, rest = bits * int(how[5:]), inst.mods.get("dst_unused", "UNUSED_PAD")
    field = (1 << bits) - 1

    def store(m, value, mask=None):
        part = value & U32(field)
        if rest == "UNUSED_SEXT":
            negative = (part >> U32(bits - 1)) != 0
            part = np.where(negative, part | U32(0xFFFFFFFF & ~field), part) << U32(shift)
        else:
            part = part << U32(shift)
        if rest == "UNUSED_PRESERVE":
            part = part | (m.V[n, m.W] & U32(0xFFFFFFFF & ~(field << shift)))
        put(m, part, mask)
    return store


def result(inst, kind):
    """Stores the result of `inst`, given as `kind`, into its first operand; applies clamp, output modifiers, DPP's lane mask."""
    o = inst.ops[0]
    adjust = _output(inst, kind)
    if kind in "qQd":
        put = put_wide(o)
    elif kind in "hUI" and not inst.sdwa:
        put = put_half(o, inst.bits("op_sel", len(inst.ops) - inst.results), not inst.arch.startswith("gfx9"))
    else:
        put = _sdwa_put(inst, o) if inst.sdwa else put_dword(o)
    if not inst.dpp:
        return lambda m, value: put(m, adjust(m, value))
    from lanes import dpp_mask
    mask_of = dpp_mask(inst)
    return lambda m, value: put(m, np.broadcast_to(adjust(m, value), (m.n, m.L)), mask_of(m))


def _output(inst, kind):
    """To the unsigned bits of the result type."""
    clamp, scale = inst.mods.get("clamp"), inst.mods.get("mul") or inst.mods.get("div")
    if kind in "fhd":
        of, bits = {"f": (F32, U32), "h": (F16, U16), "d": (F64, U64)}[kind]
        factor = None if not scale else float(scale) if "mul" in inst.mods else 1 / float(scale)

        def convert(m, value):
            value = np.asarray(value, of)
            if factor is not None:
                value = value * of(factor)
            if clamp:
                value = np.where(np.isnan(value), of(0), np.clip(value, of(0), of(1)))
            if kind == "f" and m.flushes_f32:
                value = flush32(value)
            elif kind == "h" and m.flushes_f16:
                value = flush16(value)
            return np.ascontiguousarray(value).view(bits)
        return convert
    bits = {"u": U32, "i": U32, "U": U16, "I": U16, "q": U64, "Q": U64}[kind]
    if clamp:
        raise EmulatorError(f"clamp of integers: {inst}")
    return lambda m, value: value if value.dtype == bits else np.asarray(value).astype(bits)
