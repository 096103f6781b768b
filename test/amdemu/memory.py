"""Memory of the emulator: global regions with nothing legal between them, LDS with a race shadow, scratch.

Addresses are int64 arrays [waves, lanes]; `mask` says which lanes take part. Loads give a list of uint32 arrays, one for each
dword (bytes and shorts zero-extended). Every access of a lane that takes part is checked; hardware would not.
"""
import bisect

import numpy as np

from floats import I64, U8, U16, U32


class EmulatorError(Exception):
    """The kernel does what it must not, or something that the emulator does not know."""


def gather(data, offsets, size):
    """Dwords at byte offsets of a flat uint8 array."""
    if size >= 4 and not (offsets & 3).any():
        words = data[:len(data) & ~3].view(U32)
        index = offsets >> 2
        return [words[index + d] for d in range(size // 4)]
    if size == 2 and not (offsets & 1).any():
        return [data[:len(data) & ~1].view(U16)[offsets >> 1].astype(U32)]
    out = []
    for d in range(max(1, size // 4)):
        word = data[offsets + 4 * d].astype(U32)
        for byte in range(1, min(size, 4)):
            word |= data[offsets + (4 * d + byte)].astype(U32) << U32(8 * byte)
        out.append(word)
    return out


def scatter(data, offsets, values, size):
    """Stores dwords (arrays as long as `offsets`, one-dimensional) at byte offsets of a flat uint8 array."""
    if size >= 4 and not (offsets & 3).any():
        words = data[:len(data) & ~3].view(U32)
        index = offsets >> 2
        for d in range(size // 4):
            words[index + d] = values[d]
    elif size == 2 and not (offsets & 1).any():
        data[:len(data) & ~1].view(U16)[offsets >> 1] = values[0]
    else:
        for d in range(max(1, size // 4)):
            for byte in range(min(size, 4)):
                data[offsets + (4 * d + byte)] = values[d] >> U32(8 * byte)


class Region:
    """`data`: flat uint8 array that stands at `start` of the address space."""

    def __init__(self, start, data, name, writable=True):
        self.start, self.end, self.data, self.name, self.writable = start, start + len(data), data, name, writable


class GlobalMemory:
    """Regions by address. Accesses go to exactly one region each; anything else is a wild access."""

    def __init__(self):
        self.regions, self.starts = [], []

    def add(self, start, data, name, writable=True):
        at = bisect.bisect(self.starts, start)
        self.starts.insert(at, start)
        self.regions.insert(at, Region(start, data, name, writable))

    def find(self, address):
        """The region that `address` lies in, or the nearest one below, or None."""
        at = bisect.bisect_right(self.starts, address) - 1
        return self.regions[at] if at >= 0 else None

    def _wild(self, address, size, mask, machine, inst, why):
        wave, lane = np.argwhere(mask)[0]
        where = int(address[wave, lane])
        region = self.find(where)
        near = f"{where - region.start:#x} bytes into {region.name} of {region.end - region.start} bytes" if region else f"{where:#x}"
        raise EmulatorError(f"{why} of {size} bytes at {near}: {machine.place(wave)} lane {lane}: {inst}")

    def split(self, address, size, mask, machine, inst, write=False):
        """(region, mask of its lanes) for all lanes that take part; raises on a wild access."""
        left = mask
        while left.any():
            first = address[tuple(np.argwhere(left)[0])] if not left[0, 0] else address[0, 0]
            region = self.find(int(first))
            inside = left & (address >= region.start) & (address <= region.end - size) if region else left & False
            if not inside.any():
                self._wild(address, size, left, machine, inst, "wild write" if write else "wild read")
            if write and not region.writable:
                self._wild(address, size, inside, machine, inst, "write to read-only memory")
            yield region, inside
            if inside is not left:
                left = left & ~inside

    def load(self, address, size, mask, machine, inst):
        out = None
        for region, lanes in self.split(address, size, mask, machine, inst):
            offsets = np.where(lanes, address - region.start, 0)
            words = gather(region.data, offsets, size)
            if out is None:
                out = words
            else:
                out = [np.where(lanes, new, old) for new, old in zip(words, out)]
        return out if out is not None else [np.zeros(address.shape, U32) for _ in range(max(1, size // 4))]

    def store(self, address, values, size, mask, machine, inst):
        for region, lanes in self.split(address, size, mask, machine, inst, write=True):
            picked = [np.broadcast_to(v, lanes.shape)[lanes] for v in values]
            scatter(region.data, address[lanes] - region.start, picked, size)


class LocalMemory:
    """LDS of several workgroups, with a shadow that finds races.

    For each byte the shadow keeps which wave wrote it and which waves read it since the workgroup's last barrier: 0 nobody, 1 + the
    wave's number in its workgroup, or SEVERAL. Two waves that touch a byte between two barriers, one of them writing, are a race,
    whatever order this run took. Atomic operations may meet one another.
    """
    SEVERAL, ATOMIC, REPORTS = 255, 254, 20

    def __init__(self, groups, size):
        self.size = size
        self.pitch = (size + 15 & ~15) + 16
        self.data = np.full(groups * self.pitch, 0xFF, U8)       # reads of what nobody wrote give NaN
        self.writer = np.zeros(groups * self.pitch, U8)
        self.reader = np.zeros(groups * self.pitch, U8)
        self.races, self.observer = [], None

    def barrier(self, groups):
        """`groups`: bool array of the workgroups whose waves have met."""
        self.writer.reshape(-1, self.pitch)[groups] = 0
        self.reader.reshape(-1, self.pitch)[groups] = 0

    def offsets(self, address, size, mask, machine, inst):
        """Offsets into `data` of LDS addresses; lanes that do not take part get 0."""
        bad = mask & ((address < 0) | (address > self.size - size))
        if bad.any():
            wave, lane = np.argwhere(bad)[0]
            raise EmulatorError(f"LDS access of {size} bytes at {int(address[wave, lane])} of {self.size}: "
                                f"{machine.place(wave)} lane {lane}: {inst}")
        return np.where(mask, address + machine.group_of_wave() * self.pitch, 0)

    def _observe(self, inst, address, size, mask, writes):
        if self.observer:
            self.observer(inst, address, size, mask, writes)

    def load(self, address, size, mask, machine, inst):
        offsets = self.offsets(address, size, mask, machine, inst)
        self._watch(offsets, size, mask, machine, inst, None)
        self._observe(inst, address, size, mask, False)
        return gather(self.data, offsets, size)

    def store(self, address, values, size, mask, machine, inst):
        offsets = self.offsets(address, size, mask, machine, inst)
        self._watch(offsets, size, mask, machine, inst, machine.number_in_group())
        self._observe(inst, address, size, mask, True)
        scatter(self.data, offsets[mask], [np.broadcast_to(v, mask.shape)[mask] for v in values], size)

    def atomic(self, address, size, mask, machine, inst):
        """Offsets for an operation that reads and writes at once."""
        offsets = self.offsets(address, size, mask, machine, inst)
        self._watch(offsets, size, mask, machine, inst, np.full((mask.shape[0], 1), self.ATOMIC, U8))
        return offsets

    def _watch(self, offsets, size, mask, machine, inst, writer):
        """Checks an access against the shadow and enters it. `writer`: what to enter for writes, None for reads."""
        me = np.broadcast_to(machine.number_in_group(), mask.shape)
        flat = offsets[mask]
        if not flat.size:
            return
        me = me[mask].astype(U8)
        step, kind = (4, U32) if size >= 4 and not (flat & 3).any() else (2, U16) if size >= 2 and not (flat & 1).any() else (1, U8)
        spread = {1: 1, 2: 0x0101, 4: 0x01010101}[step]
        mine = me.astype(kind) * kind(spread)
        last, seen = self.writer.view(kind), self.reader.view(kind)
        enter = None if writer is None else np.broadcast_to(writer, mask.shape)[mask].astype(kind) * kind(spread)
        for part in range(0, size, step):
            index = (flat + part) >> (step.bit_length() - 1)
            before = last[index]
            clean = (before == 0) | (before == mine) if enter is None else (before == 0) | (before == mine) | (before == enter)
            if not clean.all():
                self._bytes(flat + part, step, clean, me, machine, inst, "read" if enter is None else "write", self.writer, enter)
            readers = seen[index]
            if enter is None:
                now = np.where((readers == 0) | (readers == mine), mine, kind(spread * self.SEVERAL))
                seen[index] = now
                lost = seen[index] != now            # another wave read the same in this very instruction
                seen[index[lost]] = kind(spread * self.SEVERAL)
                continue
            clean = (readers == 0) | (readers == mine)
            if not clean.all():
                self._bytes(flat + part, step, clean, me, machine, inst, "write", self.reader, None)
            last[index] = enter
            clean = last[index] == enter             # or wrote it
            if not clean.all():
                self._bytes(flat + part, step, clean, me, machine, inst, "write", self.writer, None)

    def _bytes(self, flat, step, clean, me, machine, inst, what, shadow, enter):
        """The slow way, for words whose shadow is mixed: byte by byte, and reports."""
        for at in np.flatnonzero(~clean):
            for byte in range(step):
                other = int(shadow[flat[at] + byte])
                allowed = (0, int(me[at])) if enter is None else (0, int(me[at]), int(enter[at]) & 0xFF)
                if other in allowed:
                    continue
                if len(self.races) < self.REPORTS:
                    group, place = divmod(int(flat[at]) + byte, self.pitch)
                    against = "several waves" if other == self.SEVERAL else "atomics" if other == self.ATOMIC else f"wave {other - 1}"
                    did = "reads" if shadow is self.reader else "writes"
                    self.races.append(f"LDS race: workgroup {machine.first_group + group} byte {place}: {what} by wave {int(me[at]) - 1}, "
                                      f"{did} by {against} since the last barrier: {inst}")
                break
            if len(self.races) >= self.REPORTS:
                return


class ScratchMemory:
    """Private bytes of each lane, [waves, lanes, bytes]."""

    def __init__(self, waves, lanes, size):
        self.size, self.pitch, self.lanes = size, size + 16 & ~15, lanes
        self.data = np.full(waves * lanes * self.pitch if size else 0, 0xFF, U8)

    def _offsets(self, address, size, mask, machine, inst):
        bad = mask & ((address < 0) | (address > self.size - size))
        if bad.any():
            raise EmulatorError(f"scratch access of {size} bytes outside of {self.size}: {inst}")
        lane = (machine.wave_numbers()[:, None] * self.lanes + np.arange(self.lanes)[None]).astype(I64)
        return np.where(mask, address + lane * self.pitch, 0)

    def load(self, address, size, mask, machine, inst):
        if not mask.any():
            return [np.zeros(address.shape, U32) for _ in range(max(1, size // 4))]
        return gather(self.data, self._offsets(address, size, mask, machine, inst), size)

    def store(self, address, values, size, mask, machine, inst):
        offsets = self._offsets(address, size, mask, machine, inst)
        scatter(self.data, offsets[mask], [np.broadcast_to(v, mask.shape)[mask] for v in values], size)
