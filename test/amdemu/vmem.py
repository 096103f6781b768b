"""Vector memory: global, flat, scratch and buffer loads, stores and atomics."""
import numpy as np

from floats import F16, F32, I32, I64, U32, U64
from lds import half_merger, sign_extended
from memory import EmulatorError
from operands import M0, dword, put_dword, scalar, scalar64
from registry import pattern

FORMS = {"ubyte": (1, "u8"), "sbyte": (1, "i8"), "ushort": (2, "u16"), "sshort": (2, "i16"), "short": (2, "u16"), "byte": (1, "u8"),
         "dword": (4, ""), "dwordx2": (8, ""), "dwordx3": (12, ""), "dwordx4": (16, "")}


class Access:
    """Where one memory instruction goes: `where(m)` gives (memory, addresses, mask of the lanes that access it)."""

    def __init__(self, inst, space, operands, size):
        """`operands`: address register, then scalar base (or descriptor and scalar offset)."""
        self.inst, self.space, self.size = inst, space, size
        self.offset = inst.number("offset")
        self.vector = operands[0]
        self.scalars = operands[1:]
        build = {"global": self._global, "flat": self._flat, "scratch": self._scratch, "buffer": self._buffer}[space]
        self.where = build()

    def _vector64(self):
        low, high = dword(self.vector), dword(self.vector, 1)
        return lambda m: low(m).astype(I64) | (high(m).astype(I64) << 32)

    def _global(self):
        offset = self.offset
        if self.scalars and self.scalars[0].kind == "s":
            base, index = scalar64(self.scalars[0]), dword(self.vector)
            if self.inst.arch >= "gfx1" and self.inst.arch[:4] != "gfx9":
                get = lambda m: base(m).astype(I64)[:, None] + index(m).view(I32).astype(I64) + offset    # noqa: E731
            else:
                get = lambda m: base(m).astype(I64)[:, None] + index(m).astype(I64) + offset              # noqa: E731
        else:
            address = self._vector64()
            get = lambda m: address(m) + offset                                                           # noqa: E731
        return lambda m: (m.memory, np.broadcast_to(get(m), (m.n, m.L)), m.ex)

    def _flat(self):
        """Global, unless the upper half of an address is that of LDS or scratch."""
        from machine import PRIVATE_APERTURE, SHARED_APERTURE
        address = self._global()

        def where(m):
            memory, at, mask = address(m)
            high = at >> 32
            for aperture, other in ((SHARED_APERTURE, m.lds), (PRIVATE_APERTURE, m.scratch)):
                inside = mask & (high == aperture)
                if inside.any():
                    if (inside != mask).any():
                        raise EmulatorError(f"one flat access goes to several memories: {self.inst}")
                    return other, at & 0xFFFFFFFF, mask
            return memory, at, mask
        return where

    def _scratch(self):
        index = dword(self.vector) if self.vector.is_vector else None
        base = scalar(self.scalars[0]) if self.scalars and self.scalars[0].kind == "s" else None
        offset = self.offset

        def where(m):
            at = (index(m).astype(I64) if index else 0) + (base(m).astype(I64)[:, None] if base else 0) + offset
            return m.scratch, np.broadcast_to(at, (m.n, m.L)), m.ex
        return where

    def _buffer(self):
        """Raw and structured buffers; what lies outside the descriptor's size reads as zero and is not written."""
        from machine import SCRATCH_DESCRIPTOR
        descriptor, soffset = self.scalars[0], scalar(self.scalars[1])
        base, records, stride = scalar64(descriptor), scalar(descriptor, 2), scalar(descriptor, 1)
        idxen, offen, size = self.inst.mods.get("idxen"), self.inst.mods.get("offen"), self.size
        index = dword(self.vector) if idxen else None
        voffset = dword(self.vector, 1 if idxen else 0) if offen else None

        def where(m):
            start = base(m) & U64(0xFFFFFFFFFFFF)
            inner = (voffset(m).astype(I64) if offen else 0) + self.offset
            if index:
                inner = inner + index(m).astype(I64) * ((stride(m) >> U32(16)) & U32(0x3FFF)).astype(I64)[:, None]
            outer = np.broadcast_to(soffset(m), m.n).astype(I64)[:, None]
            inner = np.broadcast_to(inner, (m.n, m.L))
            if (start == U64(SCRATCH_DESCRIPTOR)).all():
                return m.scratch, inner + outer, m.ex
            mask = m.ex & (inner + size <= np.broadcast_to(records(m), m.n).astype(I64)[:, None])
            return m.memory, start.astype(I64)[:, None] + outer + inner, mask
        return where


def _load(inst, access, size, kind, target, half):
    merge, puts = half_merger(inst, half), [put_dword(target, k) for k in range(max(1, size // 4))]

    def run(m):
        memory, address, mask = access.where(m)
        values = memory.load(address, size, mask, m, inst)
        for put, value in zip(puts, values):
            if mask is not m.ex:
                value = np.where(mask, value, U32(0))
            put(m, merge(m, sign_extended(value, kind)))
    return run


def _load_to_lds(inst, access, size):
    """Loads whose data go to LDS, at M0 plus the lane's place.

    Whether an offset counts for the LDS address too is documented both ways (LLVM's intrinsics: yes; its optimizer folds address
    arithmetic into it all the same), so it is refused.
    """
    if access.offset:
        raise EmulatorError(f"the offset of a load to LDS is not clear: {inst}")

    def run(m):
        memory, address, mask = access.where(m)
        values = memory.load(address, size, mask, m, inst)
        target = m.S[M0, m.W].astype(I64)[:, None] + m.lane[None] * max(size, 4)
        m.lds.store(target, values, size, mask, m, inst)
    return run


@pattern(r"(global|flat|scratch|buffer)_load_(ubyte|sbyte|ushort|sshort|short|dwordx2|dwordx3|dwordx4|dword)(_d16|_d16_hi)?")
def _loads(inst, found):
    size, kind = FORMS[found[2]]
    if inst.mods.get("lds"):
        return _load_to_lds(inst, Access(inst, found[1], inst.ops, size), size)
    access = Access(inst, found[1], inst.ops[1:], size)
    return _load(inst, access, size, kind, inst.ops[0], found[3])


@pattern(r"(global|flat|scratch|buffer)_load_(ubyte|sbyte)_(d16|d16_hi)")
def _byte_halves(inst, found):
    size, kind = FORMS[found[2]]
    return _load(inst, Access(inst, found[1], inst.ops[1:], size), size, kind, inst.ops[0], found[3])


@pattern(r"global_load_lds_(dword|dwordx3|dwordx4|ubyte|ushort|sbyte|sshort)")
def _global_to_lds(inst, found):
    size = FORMS[found[1]][0]
    return _load_to_lds(inst, Access(inst, "global", inst.ops, size), size)


@pattern(r"(global|flat|scratch|buffer)_store_(byte|short|dwordx2|dwordx3|dwordx4|dword)(_d16_hi)?")
def _stores(inst, found):
    size, high = FORMS[found[2]][0], bool(found[3])
    data, operands = (inst.ops[0], inst.ops[1:]) if found[1] == "buffer" else (inst.ops[1], inst.ops[:1] + inst.ops[2:])
    access, gets = Access(inst, found[1], operands, size), [dword(data, k) for k in range(max(1, size // 4))]

    def run(m):
        memory, address, mask = access.where(m)
        values = [get(m) for get in gets]
        if mask.any():
            memory.store(address, [v >> U32(16) for v in values] if high else values, size, mask, m, inst)
    return run


def _packed_add(a, b):
    return (a.view(F16) + b.view(F16)).view(U32)


_ATOMICS = {"add": (U32, np.add), "sub": (U32, np.subtract), "smin": (I32, np.minimum), "smax": (I32, np.maximum),
            "umin": (U32, np.minimum), "umax": (U32, np.maximum), "and": (U32, np.bitwise_and), "or": (U32, np.bitwise_or),
            "xor": (U32, np.bitwise_xor), "add_f32": (F32, np.add), "swap": (U32, lambda old, new: new)}


@pattern(r"(global|flat|buffer)_atomic_(add|sub|smin|smax|umin|umax|and|or|xor|swap|add_f32|pk_add_f16|cmpswap)(?:_b32)?")
def _atomics(inst, found):
    """32-bit atomics, in the order of lanes."""
    returns = bool(inst.mods.get("sc0") or inst.mods.get("glc") or inst.mods.get("th") == "TH_ATOMIC_RETURN")
    ops = list(inst.ops)
    if found[1] == "buffer":
        target, data, operands = ops[0], ops[0], ops[1:]
    else:
        target = ops.pop(0) if returns else None
        data, operands = ops[1], ops[:1] + ops[2:]
    access, get, expected = Access(inst, found[1], operands, 4), dword(data), dword(data, 1) if found[2] == "cmpswap" else None
    put = put_dword(target) if returns else None
    kind, function = _ATOMICS.get(found[2], (U32, None))

    def combine(old, value, other):
        if found[2] == "cmpswap":
            return value if old == other else old
        if found[2] == "pk_add_f16":
            return _packed_add(np.array([old]), np.array([value]))[0]
        return function(old, value)

    def run(m):
        memory, address, mask = access.where(m)
        if memory is not m.memory:
            raise EmulatorError(f"atomics on LDS through flat addresses are not implemented: {inst}")
        values = np.broadcast_to(get(m), mask.shape)
        others = np.broadcast_to(expected(m), mask.shape) if expected else values
        old = np.zeros(mask.shape, U32)
        for region, lanes in memory.split(address, 4, mask, m, inst, write=True):
            table = region.data[:len(region.data) & ~3].view(kind)
            for wave, lane in np.argwhere(lanes):
                at = int(address[wave, lane] - region.start) >> 2
                old[wave, lane] = table[at:at + 1].view(U32)[0]
                table[at] = combine(table[at], values[wave, lane:lane + 1].view(kind)[0], others[wave, lane])
        if put:
            put(m, old, mask)
    return run
