"""LDS instructions: loads, stores, atomics; addresses are a register plus an offset of 16 bits."""
import numpy as np

from floats import F32, I16, I32, I64, U8, U16, U32, U64
from memory import EmulatorError
from operands import dword, put_dword
from registry import op, pattern

SIZES = {"b8": 1, "u8": 1, "i8": 1, "b16": 2, "u16": 2, "i16": 2, "b32": 4, "b64": 8, "b96": 12, "b128": 16}


def sign_extended(value, kind):
    if kind == "i8":
        return value.astype(np.int8).astype(I32).view(U32)
    if kind == "i16":
        return value.astype(I16).astype(I32).view(U32)
    return value


def half_merger(inst, half):
    """Puts 16 bits into one half of the result register; `half` is None, _d16 or _d16_hi.

    With ECC of registers, which MI200 and MI300 have, the other half is lost (LLVM: D16PreservesUnusedBits); here it becomes NaN.
    """
    if not half:
        return lambda m, value: value
    n = inst.ops[0].reg
    if inst.arch.startswith("gfx9"):
        if half.endswith("hi"):
            return lambda m, value: U32(0xFFFF) | (value << U32(16))
        return lambda m, value: U32(0xFFFF0000) | (value & U32(0xFFFF))
    if half.endswith("hi"):
        return lambda m, value: (m.V[n, m.W] & U32(0xFFFF)) | (value << U32(16))
    return lambda m, value: (m.V[n, m.W] & U32(0xFFFF0000)) | (value & U32(0xFFFF))


def _address(inst, k, name="offset", scale=1):
    """Register plus offset in 32 bits: a negative register and an offset meet at a legal address since Sea Islands (LLVM relies on it)."""
    get, shift = dword(inst.ops[k]), U32(inst.number(name) * scale)
    return lambda m: (np.broadcast_to(get(m), (m.n, m.L)) + shift).astype(I64)


@pattern(r"ds_read(?:_addtid)?_(u8|i8|u16|i16|b32|b64|b96|b128)(_d16|_d16_hi)?")
def _read(inst, found):
    size, address, merge = SIZES[found[1]], _address(inst, 1), half_merger(inst, found[2])
    puts = [put_dword(inst.ops[0], k) for k in range(max(1, size // 4))]

    def run(m):
        values = m.lds.load(address(m), size, m.ex, m, inst)
        for put, value in zip(puts, values):
            put(m, merge(m, sign_extended(value, found[1])))
    return run


@pattern(r"ds_write_(b8|b16|b32|b64|b96|b128)(_d16_hi)?")
def _write(inst, found):
    size, address = SIZES[found[1]], _address(inst, 0)
    gets, high = [dword(inst.ops[1], k) for k in range(max(1, size // 4))], bool(found[2])

    def run(m):
        values = [get(m) for get in gets]
        m.lds.store(address(m), [v >> U32(16) for v in values] if high else values, size, m.ex, m, inst)
    return run


@pattern(r"ds_(read|write)2(st64)?_b(32|64)")
def _two(inst, found):
    """Two elements, their offsets counted in elements (times 64)."""
    size = int(found[3]) // 8
    scale, reads = size * (64 if found[2] else 1), found[1] == "read"
    addresses = [_address(inst, 1 if reads else 0, f"offset{k}", scale) for k in (0, 1)]
    if reads:
        puts = [put_dword(inst.ops[0], k) for k in range(2 * size // 4)]

        def read(m):
            values = [v for address in addresses for v in m.lds.load(address(m), size, m.ex, m, inst)]
            for put, value in zip(puts, values):
                put(m, value)
        return read
    data = [[dword(inst.ops[1 + k], d) for d in range(size // 4)] for k in (0, 1)]

    def write(m):
        for address, gets in zip(addresses, data):
            m.lds.store(address(m), [get(m) for get in gets], size, m.ex, m, inst)
    return write


_ATOMICS = {"add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
            "xor": np.bitwise_xor}


@pattern(r"ds_(add|sub|min|max|and|or|xor)(_rtn)?_(u32|i32|b32|f32|u64|i64|b64)")
def _atomic(inst, found):
    kind = {"u32": U32, "b32": U32, "i32": I32, "f32": F32, "u64": U64, "b64": U64, "i64": I64}[found[3]]
    size, returns = np.dtype(kind).itemsize, bool(found[2])
    address, first = _address(inst, int(returns)), dword(inst.ops[1 + int(returns)])
    second = dword(inst.ops[1 + int(returns)], 1) if size == 8 else None
    puts = [put_dword(inst.ops[0], k) for k in range(size // 4)] if returns else []
    if kind == F32 and found[1] in ("min", "max"):
        raise EmulatorError(f"not implemented: {inst}")

    def run(m):
        offsets = m.lds.atomic(address(m), size, m.ex, m, inst)
        value = np.broadcast_to(first(m), m.ex.shape).astype(U32)
        if second:
            value = value.astype(U64) | (np.broadcast_to(second(m), m.ex.shape).astype(U64) << U64(32))
        index, value = offsets[m.ex] // size, np.ascontiguousarray(value[m.ex]).view(kind)
        table = m.lds.data.view(kind)
        old = np.zeros(m.ex.shape, kind)
        if returns:      # in the order of lanes
            taken = []
            for at, x in zip(index, value):
                taken.append(table[at])
                table[at] = _ATOMICS[found[1]](table[at], x)
            old[m.ex] = taken
        else:
            _ATOMICS[found[1]].at(table, index, value)
        words = old.view(U32).reshape(*m.ex.shape, -1)
        for k, put in enumerate(puts):
            put(m, words[..., k])
    return run


@op("ds_read_b64_tr_b16 ds_read_b64_tr_b8")
def _read_transposed(inst):
    """gfx950: 16 lanes read 64 bits each, N rows of 16 elements together; lane c of the 16 receives column c."""
    address, kind = _address(inst, 1), U16 if inst.mnemonic.endswith("b16") else U8
    puts = [put_dword(inst.ops[0]), put_dword(inst.ops[0], 1)]

    def run(m):
        words = np.ascontiguousarray(np.stack(m.lds.load(address(m), 8, m.ex, m, inst), 2)).view(kind)
        rows = words.shape[2]
        columns = words.reshape(m.n, m.L // 16, rows, 16).transpose(0, 1, 3, 2)
        out = np.ascontiguousarray(columns).reshape(m.n, m.L, rows).view(U32)
        for k, put in enumerate(puts):
            put(m, out[..., k])
    return run
