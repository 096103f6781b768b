"""Matrix instructions: MFMA of CDNA and WMMA of RDNA.

Layouts as AMD's matrix instruction calculator gives them. With G = 64 / M groups of lanes and kl elements of each lane, lane g*M + i
holds A[i, g*kl + j]; B likewise with columns; D has rows 4*G at a time, of which group g holds 4*g .. 4*g + 3. Instructions with
several blocks give each group of lanes a product of its own. Products accumulate in float64 and are rounded once; hardware rounds
somewhere between that and after each addition. MI200 takes and gives subnormal float16 and bfloat16 inputs as zero.
"""
import numpy as np

from floats import (F16, F32, F64, FP4, I32, I64, U16, U32, bf16_values, bf16_words, flush16, flush32, fp8_values, tf32)
from memory import EmulatorError
from operands import dword
from registry import pattern


def _stack(m, o, count):
    """The registers of an operand, [waves, lanes, registers]."""
    return np.moveaxis(m.V[o.reg:o.reg + count, m.W], 0, 2)


def elements(m, o, count, form):
    """Values of a register tuple as [waves, lanes, elements]."""
    words = np.ascontiguousarray(_stack(m, o, count))
    old_chip = m.arch == "gfx90a"
    if form == "f16":
        values = words.view(F16)
        return (flush16(values) if old_chip else values).astype(F32)
    if form == "bf16":
        values = bf16_values(words.view(U16))
        return flush32(values) if old_chip else values
    if form == "f32":
        return words.view(F32)
    if form == "xf32":
        return tf32(words.view(F32))
    if form in ("i8", "iu8"):
        return words.view(np.int8).astype(I32)
    if form in ("fp8", "bf8"):
        return fp8_values(words.view(np.uint8), form, m.arch)
    if form == "f64":
        return words.view(F64)
    raise EmulatorError(f"matrix elements {form} are not implemented")


def _accumulator(m, o, count, kind):
    """C as [waves, registers, lanes]."""
    if not o.is_vector:
        return np.ascontiguousarray(dword(o)(m)).view(kind)[:, :, None] if kind != F64 else np.zeros((1, 1, 1))
    return m.V[o.reg:o.reg + count, m.W].swapaxes(0, 1).view(kind)


def _store(m, o, bits):
    """[waves, registers, lanes] of uint32; matrix instructions do not look at EXEC."""
    m.V[o.reg:o.reg + bits.shape[1], m.W] = bits.swapaxes(0, 1)


def _rows(count, size, per_group):
    """(row, column) of each [register, lane] of the result of one block."""
    groups = 64 // size
    register, lane = np.arange(count)[:, None], np.arange(64)[None]
    row = lane // size * per_group + register % per_group + register // per_group * (per_group * groups)
    return row, np.broadcast_to(lane % size, row.shape)


_NAME = r"v_mfma_(f32|i32|f64)_(\d+)x(\d+)x(\d+)_?(?:(\d+)b_)?(f16|bf16|i8|f32|f64|xf32|(?:fp8|bf8)_(?:fp8|bf8))(?:_1k)?"


@pattern(_NAME)
def _mfma(inst, found):
    out, size, depth, form = found[1], int(found[2]), int(found[4]), found[6]
    first, second = form.split("_") if "_" in form else (form, form)
    if any(name in inst.mods for name in ("cbsz", "abid", "blgp", "neg")):
        raise EmulatorError(f"broadcasts of matrix operands are not implemented: {inst}")
    d, a, b, c = inst.ops
    groups, wide = 64 // size, I64 if out == "i32" else F64
    per_lane = {"f16": 2, "bf16": 2, "i8": 4, "fp8": 4, "bf8": 4, "f32": 1, "xf32": 1, "f64": 1}[first] * a.count
    per_lane = 1 if form == "f64" else per_lane
    if groups * per_lane != depth:
        if per_lane != depth or form == "f64":
            raise EmulatorError(f"not implemented: {inst}")
        return _blocks(inst, found)
    results = d.count // 2 if form == "f64" else d.count
    row, column = _rows(results, size, 1 if form == "f64" else 4)
    kind = {"f32": F32, "i32": I32, "f64": F64}[out]

    def operand(m, o, form):
        x = elements(m, o, o.count, form)
        return x.reshape(m.n, groups, size, per_lane).transpose(0, 2, 1, 3).reshape(m.n, size, depth).astype(wide)

    def run(m):
        product = np.matmul(operand(m, a, first), operand(m, b, second).transpose(0, 2, 1))[:, row, column]
        if form == "f64":
            _store_doubles(m, d, product + _doubles(m, c, results))
            return
        total = (product + _accumulator(m, c, d.count, kind)).astype(kind)
        if kind == F32 and m.arch == "gfx90a" and form in ("f16", "bf16"):
            total = flush32(total)
        _store(m, d, total.view(U32))
    return run


def _doubles(m, o, count):
    if not o.is_vector:
        return F64(o.value)
    return np.ascontiguousarray(_stack(m, o, 2 * count)).view(F64).transpose(0, 2, 1)


def _store_doubles(m, o, values):
    bits = np.ascontiguousarray(values.transpose(0, 2, 1)).view(U32)
    m.V[o.reg:o.reg + bits.shape[2], m.W] = np.moveaxis(bits, 2, 0)


def _blocks(inst, found):
    """Several small products side by side, one for each group of `size` lanes."""
    out, size, form = found[1], int(found[2]), found[6]
    d, a, b, c = inst.ops
    blocks, wide, kind = 64 // size, I64 if out == "i32" else F64, I32 if out == "i32" else F32

    def operand(m, o):
        return elements(m, o, o.count, form).reshape(m.n, blocks, size, -1).astype(wide)

    def run(m):
        product = np.matmul(operand(m, a), operand(m, b).transpose(0, 1, 3, 2))      # [waves, block, row, column]
        if size == 4:
            placed = product.transpose(0, 2, 1, 3).reshape(m.n, 4, 64)
        else:
            row, column = _rows(size * size // 64, size, 4)
            placed = product[:, :, row, column].reshape(m.n, d.count, 64)
        total = (placed + _accumulator(m, c, d.count, kind)).astype(kind)
        if kind == F32 and m.arch == "gfx90a" and form in ("f16", "bf16"):
            total = flush32(total)
        _store(m, d, total.view(U32))
    return run


@pattern(r"v_mfma_(scale_)?f32_(16x16x128|32x32x64)_f8f6f4")
def _scaled(inst, found):
    """gfx950. 8-bit data: lane group g holds 16*g .. of both halves of K; 4-bit data: 32 consecutive k. The E8M0 byte of lane
    group g scales k = 32*g .. 32*g + 31."""
    size, depth = (16, 128) if found[2].startswith("16") else (32, 64)
    d, a, b, c = inst.ops[:4]
    groups, forms = 64 // size, (inst.number("cbsz"), inst.number("blgp"))
    row, column = _rows(d.count, size, 4)

    def values(m, o, form):
        if form in (0, 1):
            x = elements(m, o, 8, "fp8" if form == 0 else "bf8")
            return x.reshape(m.n, groups, size, 2, 16).transpose(0, 2, 3, 1, 4).reshape(m.n, size, depth)
        if form == 4:
            x = np.ascontiguousarray(_stack(m, o, 4)).view(np.uint8)
            x = np.stack([FP4[x & 15], FP4[x >> 4]], 3)
            return x.reshape(m.n, groups, size, 32).transpose(0, 2, 1, 3).reshape(m.n, size, depth)
        raise EmulatorError(f"matrix elements of format {form} are not implemented: {inst}")

    def scale(m, k):
        byte = inst.bits("op_sel", k) + 2 * inst.bits("op_sel_hi", k)
        words = np.broadcast_to(dword(inst.ops[4 + k])(m), (m.n, 64)) >> U32(8 * byte) & U32(255)
        factor = np.ldexp(1.0, words.astype(int) - 127).reshape(m.n, groups, size).transpose(0, 2, 1)
        return np.repeat(factor, depth // groups, 2)

    def run(m):
        x, y = values(m, a, forms[0]).astype(F64), values(m, b, forms[1]).astype(F64)
        if found[1]:
            x, y = x * scale(m, 0), y * scale(m, 1)
        product = np.matmul(x, y.transpose(0, 2, 1))[:, row, column]
        _store(m, d, (product + _accumulator(m, c, d.count, F32)).astype(F32).view(U32))
    return run


@pattern(r"v_wmma_(f32|f16|bf16|i32)_16x16x16_(f16|bf16|iu8|(?:fp8|bf8)_(?:fp8|bf8))")
def _wmma(inst, found):
    out, form = found[1], found[2]
    first, second = form.split("_") if "_" in form else (form, form)
    d, a, b, c = inst.ops
    newer = inst.arch.startswith("gfx12")
    lane, register = np.arange(32)[None], np.arange(8)[:, None]
    row = 8 * (lane // 16) + register if newer else 2 * register + lane // 16
    column = np.broadcast_to(lane % 16, row.shape)

    def operand(m, o, form, k):
        x = elements(m, o, o.count, form)
        if form == "iu8" and not inst.bits("neg_lo", k):
            x = x & 255
        if newer:      # lane group g holds k = 8 * g ..
            return x.reshape(m.n, 2, 16, 8).transpose(0, 2, 1, 3).reshape(m.n, 16, 16)
        if not np.array_equal(x[:, :16], x[:, 16:], equal_nan=True):
            raise EmulatorError(f"lanes 16 to 31 must repeat lanes 0 to 15 of A and B: {inst}")
        return x[:, :16]

    def run(m):
        if m.L != 32:
            raise EmulatorError(f"waves of 64 lanes are not implemented: {inst}")
        product = np.matmul(operand(m, a, first, 0).astype(F64), operand(m, b, second, 1).astype(F64).transpose(0, 2, 1))
        product = product[:, row, column]
        if out in ("f32", "i32"):
            kind = F32 if out == "f32" else I32
            total = product + _accumulator(m, c, 8, kind)
            _store(m, d, (total.astype(F32) if kind == F32 else total.astype(I64).astype(I32)).view(U32))
        else:
            _store_halves(m, inst, out, newer, product)
    return run


def _store_halves(m, inst, out, newer, product):
    """16-bit results: packed in pairs on gfx12; on gfx11 in one half of each register, which op_sel picks."""
    d, c = inst.ops[0], inst.ops[3]
    values_of = (lambda w: w.view(F16).astype(F64)) if out == "f16" else (lambda w: bf16_values(w).astype(F64))
    words_of = (lambda x: x.astype(F16).view(U16).astype(U32)) if out == "f16" else (lambda x: bf16_words(x.astype(F32)))
    high = U32(16 * inst.bits("op_sel", 2))
    if not c.is_vector:
        total = product
    elif newer:
        total = product + values_of(np.ascontiguousarray(np.ascontiguousarray(_stack(m, c, 4)).view(U16).transpose(0, 2, 1)))
    else:
        words = m.V[c.reg:c.reg + 8, m.W].swapaxes(0, 1) >> high
        total = product + values_of(words.astype(U16))
    bits = words_of(total)
    if newer:
        _store(m, d, bits[:, 0::2] | (bits[:, 1::2] << U32(16)))
        return
    old = m.V[d.reg:d.reg + 8, m.W].swapaxes(0, 1)
    _store(m, d, (old & U32(0xFFFF0000 >> int(high))) | (bits << high))
