"""Data that crosses lanes: DPP, v_readlane and relatives, ds_bpermute, ds_swizzle, v_permlane."""
import re

import numpy as np

from floats import I64, U32, U64
from memory import EmulatorError
from operands import dword, put_dword, put_scalar, result, scalar, source
from registry import op
from valu import ones

LANES = np.arange(64)


def _dpp_source(inst):
    """(source lane of each lane, whether that lane exists), for 64 lanes."""
    lane, row, place = LANES, LANES & ~15, LANES & 15
    for key, value in inst.mods.items():
        if key == "quad_perm":
            return (lane & ~3) + np.array([int(v) for v in value.strip("[]").split(",")])[lane & 3], lane >= 0
        if key == "row_shl":
            return lane + int(value), place + int(value) < 16
        if key == "row_shr":
            return lane - int(value), place >= int(value)
        if key == "row_ror":
            return row + ((place - int(value)) & 15), lane >= 0
        if key == "row_mirror":
            return row + 15 - place, lane >= 0
        if key == "row_half_mirror":
            return (lane & ~7) + 7 - (lane & 7), lane >= 0
        if key == "row_bcast":
            return (row - 1, lane > 15) if int(value) == 15 else (np.full(64, 31), lane > 31)
        if key in ("row_newbcast", "row_share"):
            return row + int(value), lane >= 0
        if key == "row_xmask":
            return row + (place ^ int(value)), lane >= 0
        if key == "wave_shl":
            return lane + 1, lane < 63
        if key == "wave_shr":
            return lane - 1, lane > 0
        if key == "wave_rol":
            return (lane + 1) & 63, lane >= 0
        if key == "wave_ror":
            return (lane - 1) & 63, lane >= 0
        if key == "dpp8":
            return (lane & ~7) + np.array([int(v) for v in value.strip("[]").split(",")])[lane & 7], lane >= 0
    raise EmulatorError(f"DPP control is not implemented: {inst}")


def _live(m, inst, lanes, exists):
    """Which lanes have a source that exists and is active."""
    return exists[None] & (m.ex[:, lanes] | bool(inst.mods.get("fi") in ("1", 1)))


def permuted(inst, get):
    """`get` with each lane's value replaced by its DPP source's, 0 where there is none."""
    lanes, exists = _dpp_source(inst)

    def fetch(m):
        index = np.clip(lanes[:m.L], 0, m.L - 1)
        values = np.broadcast_to(get(m), (m.n, m.L))
        return np.where(_live(m, inst, index, exists[:m.L]), values[:, index], values.dtype.type(0))
    return fetch


def dpp_mask(inst):
    """The lanes that a DPP instruction writes."""
    lanes, exists = _dpp_source(inst)
    rows, banks = inst.number("row_mask", 15), inst.number("bank_mask", 15)
    enabled = ((rows >> (LANES >> 4)) & 1).astype(bool) & ((banks >> ((LANES >> 2) & 3)) & 1).astype(bool)
    zeroes = "bound_ctrl" in inst.mods

    def mask(m):
        lanes_here = np.clip(lanes[:m.L], 0, m.L - 1)
        allowed = m.ex & enabled[None, :m.L]
        return allowed if zeroes else allowed & _live(m, inst, lanes_here, exists[:m.L])
    return mask


def _lane_number(m, get):
    return np.broadcast_to(get(m), m.n).astype(I64) % m.L


@op("v_readlane_b32")
def _readlane(inst):
    get, which, put = dword(inst.ops[1]), scalar(inst.ops[2]), put_scalar(inst.ops[0])
    return lambda m: put(m, np.broadcast_to(get(m), (m.n, m.L))[np.arange(m.n), _lane_number(m, which)])


@op("v_writelane_b32")
def _writelane(inst):
    get, which, put = scalar(inst.ops[1]), scalar(inst.ops[2]), put_dword(inst.ops[0])

    def run(m):
        mask = m.lane[None] == _lane_number(m, which)[:, None]
        put(m, np.broadcast_to(get(m)[:, None], mask.shape), mask)
    return run


@op("v_mbcnt_lo_u32_b32 v_mbcnt_hi_u32_b32")
def _mbcnt(inst):
    """Number of the mask's bits below this lane, of lanes 0-31 or 32-63."""
    mask, base, put = source(inst, 0, "u"), source(inst, 1, "u"), result(inst, "u")
    below = np.clip(LANES - (32 if "hi" in inst.mnemonic else 0), 0, 32)
    bits = ((U64(1) << below.astype(U64)) - U64(1)).astype(U32)
    return lambda m: put(m, ones(mask(m) & bits[None, :m.L]) + base(m))


@op("ds_bpermute_b32")
def _bpermute(inst):
    address, data, put, shift = dword(inst.ops[1]), dword(inst.ops[2]), put_dword(inst.ops[0]), inst.number("offset")

    def run(m):
        index = (np.broadcast_to(address(m), (m.n, m.L)).astype(I64) + shift >> 2) % m.L
        values = np.take_along_axis(np.broadcast_to(data(m), (m.n, m.L)), index, 1)
        put(m, values if m.full else np.where(np.take_along_axis(m.ex, index, 1), values, U32(0)))
    return run


@op("ds_permute_b32")
def _permute(inst):
    address, data, put, shift = dword(inst.ops[1]), dword(inst.ops[2]), put_dword(inst.ops[0]), inst.number("offset")

    def run(m):
        index = (np.broadcast_to(address(m), (m.n, m.L)).astype(I64) + shift >> 2) % m.L
        values, out = np.broadcast_to(data(m), (m.n, m.L)), np.zeros((m.n, m.L), U32)
        wave, lane = np.nonzero(m.ex)
        out[wave, index[wave, lane]] = values[wave, lane]
        put(m, out)
    return run


def _swizzle_source(inst):
    lane = LANES
    name = re.search(r"swizzle\((\w+),(.*?)\)", inst.text)
    if not name:
        pattern = inst.number("offset")
        if pattern & 0x8000:    # quad permutation
            return (lane & ~3) + ((pattern >> (2 * (lane & 3))) & 3)
        return (lane & 32) + ((((lane & 31) & (pattern & 31)) | (pattern >> 5 & 31)) ^ (pattern >> 10 & 31))
    numbers = [v.strip().strip('"') for v in name[2].split(",")]
    if name[1] == "SWAP":
        return lane ^ int(numbers[0])
    if name[1] == "BROADCAST":
        return lane // int(numbers[0]) * int(numbers[0]) + int(numbers[1])
    if name[1] == "REVERSE":
        return lane // int(numbers[0]) * int(numbers[0]) + int(numbers[0]) - 1 - lane % int(numbers[0])
    if name[1] == "QUAD_PERM":
        return (lane & ~3) + np.array([int(v) for v in numbers])[lane & 3]
    if name[1] == "BITMASK_PERM":
        out = lane & 31
        for bit, how in enumerate(reversed(numbers[0])):
            out = {"0": out & ~(1 << bit), "1": out | 1 << bit, "i": out ^ 1 << bit}.get(how, out)
        return out + (lane & 32)
    raise EmulatorError(f"swizzle is not implemented: {inst}")


@op("ds_swizzle_b32")
def _swizzle(inst):
    lanes, data, put = _swizzle_source(inst), dword(inst.ops[1]), put_dword(inst.ops[0])

    def run(m):
        index = lanes[:m.L]
        put(m, np.where(m.ex[:, index], np.broadcast_to(data(m), (m.n, m.L))[:, index], U32(0)))
    return run


@op("v_permlane32_swap_b32 v_permlane16_swap_b32")
def _permlane_swap(inst):
    """gfx950: exchanges the upper half (odd rows) of the first register with the lower half (even rows) of the second."""
    step = 32 if "lane32" in inst.mnemonic else 16
    first, second = inst.ops[0], inst.ops[1]
    high = (LANES & step) != 0
    puts = put_dword(first), put_dword(second)

    def run(m):
        a, b = m.V[first.reg, m.W].copy(), m.V[second.reg, m.W].copy()
        new_a, new_b = a.copy(), b.copy()
        new_a[:, high] = b[:, ~high]
        new_b[:, ~high] = a[:, high]
        puts[0](m, new_a)
        puts[1](m, new_b)
    return run


@op("v_swap_b32")
def _swap(inst):
    first, second = inst.ops[0], inst.ops[1]
    puts = put_dword(first), put_dword(second)

    def run(m):
        a, b = m.V[first.reg, m.W].copy(), m.V[second.reg, m.W].copy()
        puts[0](m, b)
        puts[1](m, a)
    return run


@op("v_permlane16_b32 v_permlanex16_b32")
def _permlane16(inst):
    """gfx10+: each lane of a row of 16 takes the lane that 4 bits of two scalars select, of its own or the other row."""
    get, low, high, put = dword(inst.ops[1]), scalar(inst.ops[2]), scalar(inst.ops[3]), put_dword(inst.ops[0])
    other = 16 if "x16" in inst.mnemonic else 0

    def run(m):
        select = np.broadcast_to(low(m), m.n).astype(U64) | (np.broadcast_to(high(m), m.n).astype(U64) << U64(32))
        place = (select[:, None] >> (U64(4) * (m.lane[None] & 15).astype(U64))) & U64(15)
        index = ((m.lane[None] & ~15) ^ other) + place.astype(I64)
        values = np.take_along_axis(np.broadcast_to(get(m), (m.n, m.L)), index, 1)
        put(m, values, m.ex & np.take_along_axis(m.ex, index, 1))
    return run
