"""Loads AMDGPU code objects: ELF segments, kernel descriptors, metadata, and what a dispatch puts into registers.

Sources: LLVM's "User Guide for AMDGPU Backend": code object v5 metadata, kernel descriptor (64 bytes), initial kernel
execution state. Only what an emulator and a checker need.
"""
import struct
from dataclasses import dataclass, field

MACHINES = {0x03F: "gfx90a", 0x04C: "gfx942", 0x04F: "gfx950", 0x041: "gfx1100", 0x046: "gfx1101", 0x048: "gfx1200",
            0x04E: "gfx1201"}
PT_LOAD, PT_NOTE, NT_AMDGPU_METADATA, SHT_SYMTAB, SHT_DYNSYM = 1, 4, 32, 2, 11


class CodeObjectError(Exception):
    """The bytes are not an AMDGPU code object that this module understands."""


@dataclass
class Kernel:
    """One kernel: numbers of its descriptor and its metadata map."""
    name: str
    entry: int            # address within the code object
    meta: dict
    lds: int              # static LDS, bytes
    scratch: int          # private segment, bytes of each lane
    rsrc1: int
    rsrc2: int
    properties: int
    preload: int
    wave: int             # lanes of a wave: 64 or 32

    @property
    def flushes_f32(self):
        """Whether float32 instructions flush subnormal numbers (FLOAT_DENORM_MODE_32 is not 3)."""
        return (self.rsrc1 >> 16) & 3 != 3

    @property
    def flushes_f16(self):
        """The same for float16 and float64."""
        return (self.rsrc1 >> 18) & 3 != 3


@dataclass
class CodeObject:
    arch: str
    size: int                                     # bytes of its address space
    segments: list                                # (address, bytes)
    kernels: dict = field(default_factory=dict)   # by name
    functions: dict = field(default_factory=dict)  # symbol -> (address, bytes of code)
    note: dict = field(default_factory=dict)


def unpack(data, at=0):
    """One MessagePack value of `data` and the position behind it."""
    tag = data[at]
    at += 1
    if tag < 0x80:
        return tag, at
    if tag < 0x90:
        return _map(data, at, tag & 15)
    if tag < 0xA0:
        return _array(data, at, tag & 15)
    if tag < 0xC0:
        return data[at:at + (tag & 31)].decode(), at + (tag & 31)
    if tag >= 0xE0:
        return tag - 256, at
    if tag in (0xC0, 0xC2, 0xC3):
        return {0xC0: None, 0xC2: False, 0xC3: True}[tag], at
    numbers = {0xCA: "f", 0xCB: "d", 0xCC: "B", 0xCD: "H", 0xCE: "I", 0xCF: "Q", 0xD0: "b", 0xD1: "h", 0xD2: "i", 0xD3: "q"}
    if tag in numbers:
        return _number(data, at, numbers[tag])
    lengths = {0xC4: "B", 0xC5: "H", 0xC6: "I", 0xD9: "B", 0xDA: "H", 0xDB: "I", 0xDC: "H", 0xDD: "I", 0xDE: "H", 0xDF: "I"}
    if tag not in lengths:
        raise CodeObjectError(f"MessagePack tag {tag:#x}")
    n, at = _number(data, at, lengths[tag])
    if tag >= 0xDE:
        return _map(data, at, n)
    if tag >= 0xDC:
        return _array(data, at, n)
    raw = bytes(data[at:at + n])
    return (raw.decode() if tag >= 0xD9 else raw), at + n


def _number(data, at, form):
    return struct.unpack_from(">" + form, data, at)[0], at + struct.calcsize(form)


def _array(data, at, n):
    out = []
    for _ in range(n):
        value, at = unpack(data, at)
        out.append(value)
    return out, at


def _map(data, at, n):
    out = {}
    for _ in range(n):
        key, at = unpack(data, at)
        out[key], at = unpack(data, at)
    return out, at


def elf_size(header):
    """Bytes of an ELF file whose first 64 bytes are given: its section headers come last."""
    offset, = struct.unpack_from("<Q", header, 40)
    entry, count = struct.unpack_from("<HH", header, 58)
    return offset + entry * count


def _segments(elf):
    offset, = struct.unpack_from("<Q", elf, 32)
    entry, count = struct.unpack_from("<HH", elf, 54)
    loads, note, size = [], None, 0
    for i in range(count):
        kind, _, at, address, _, in_file, in_memory, _ = struct.unpack_from("<IIQQQQQQ", elf, offset + i * entry)
        if kind == PT_LOAD:
            loads.append((address, elf[at:at + in_file].ljust(in_memory, b"\0")))
            size = max(size, address + in_memory)
        elif kind == PT_NOTE:
            note = _metadata(elf, at, at + in_file) or note
    return loads, note, size


def _metadata(elf, at, end):
    while at < end:
        name_size, size, kind = struct.unpack_from("<III", elf, at)
        name = elf[at + 12:at + 12 + name_size]
        at += 12 + (name_size + 3 & ~3)
        if kind == NT_AMDGPU_METADATA and name.startswith(b"AMDGPU"):
            return unpack(elf[at:at + size])[0]
        at += size + 3 & ~3
    return None


def _symbols(elf):
    """name -> (address, size) out of every symbol table."""
    offset, = struct.unpack_from("<Q", elf, 40)
    entry, count = struct.unpack_from("<HH", elf, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", elf, offset + i * entry) for i in range(count)]
    symbols = {}
    for section in sections:
        if section[1] not in (SHT_SYMTAB, SHT_DYNSYM):
            continue
        names = sections[section[6]][4]
        for at in range(section[4], section[4] + section[5], 24):
            name, info, _, _, value, size = struct.unpack_from("<IBBHQQ", elf, at)
            text = elf[names + name:elf.index(0, names + name)].decode()
            if text:
                symbols[text] = (value, size, info & 15)
    return symbols


def load(elf):
    """The code object in `elf`, bytes of an amdhsa ELF64 file."""
    if elf[:4] != b"\x7fELF" or elf[4] != 2 or elf[7] != 64:
        raise CodeObjectError("not an ELF64 file for AMDHSA")
    flags, = struct.unpack_from("<I", elf, 48)
    segments, note, size = _segments(elf)
    if not note:
        raise CodeObjectError("no AMDGPU metadata")
    symbols = _symbols(elf)
    arch = MACHINES.get(flags & 0xFF)
    if not arch:
        raise CodeObjectError(f"machine {flags & 0xFF:#x} is not known")
    out = CodeObject(arch, size + 4095 & ~4095, segments, note=note)
    out.functions = {name: (value, size) for name, (value, size, kind) in symbols.items() if kind == 2 and size}
    for meta in note["amdhsa.kernels"]:
        out.kernels[meta[".name"]] = _kernel(meta, symbols[meta[".symbol"]][0], segments)
    return out


def _kernel(meta, descriptor, segments):
    raw = next(data[descriptor - at:descriptor - at + 64] for at, data in segments if at <= descriptor < at + len(data))
    lds, scratch, _, _, entry = struct.unpack_from("<IIIIq", raw)
    _, rsrc1, rsrc2, properties, preload = struct.unpack_from("<IIIHH", raw, 44)
    return Kernel(meta[".name"], descriptor + entry, meta, lds, scratch, rsrc1, rsrc2, properties, preload,
                  meta.get(".wavefront_size", 64))


def explicit_arguments(kernel):
    """(offset, size) of the arguments that a caller passes, in order."""
    return [(a[".offset"], a[".size"]) for a in kernel.meta.get(".args", []) if not a[".value_kind"].startswith("hidden_")]


def kernarg(kernel, values, grid, block, dynamic_lds=0):
    """The kernel argument segment. `values`: bytes of each explicit argument, in order; `grid` in workgroups."""
    out = bytearray(max(kernel.meta.get(".kernarg_segment_size", 0), 1))
    hidden = {"hidden_block_count_x": grid[0], "hidden_block_count_y": grid[1], "hidden_block_count_z": grid[2],
              "hidden_group_size_x": block[0], "hidden_group_size_y": block[1], "hidden_group_size_z": block[2],
              "hidden_grid_dims": 3 if grid[2] * block[2] > 1 else 2 if grid[1] * block[1] > 1 else 1,
              "hidden_dynamic_lds_size": dynamic_lds}
    rest = iter(values)
    for argument in kernel.meta.get(".args", []):
        offset, size, kind = argument[".offset"], argument[".size"], argument[".value_kind"]
        raw = hidden.get(kind, 0).to_bytes(size, "little") if kind.startswith("hidden_") else next(rest)
        if len(raw) != size:
            raise CodeObjectError(f"{kernel.name}: an argument has {size} bytes, {len(raw)} given")
        out[offset:offset + size] = raw
    return bytes(out)


def user_sgprs(kernel, kernarg_address, kernarg_bytes, private_buffer):
    """Values of the user SGPRs in the order of the ABI. `private_buffer`: 4 dwords of the scratch descriptor."""
    out = []
    p = kernel.properties
    if p & 1:
        out += private_buffer
    for bit, value in ((2, 0), (4, 0), (8, kernarg_address), (16, 0), (32, 0)):  # dispatch, queue, kernarg, id, flat scratch
        if p & bit:
            out += [value & 0xFFFFFFFF, value >> 32]
    if p & 64:
        out.append(kernel.scratch)
    for i in range(kernel.preload & 0x7F):
        out.append(struct.unpack_from("<I", kernarg_bytes, 4 * ((kernel.preload >> 7) + i))[0])
    return out + [0] * ((kernel.rsrc2 >> 1 & 31) - len(out))
