"""Front end: runs kernels of AMDGPU code objects over numpy arrays or over given memory, on no GPU.

What a run proves: results; that no active lane touches anything but the given buffers, its LDS, its scratch; that no two waves
race on LDS; that barriers are met by whole workgroups. What it does not: timing, waits (waitcnt.py proves those), the order of
waves on hardware, the last bit of transcendental functions and of sums inside matrix instructions.
"""
import gc
import os
import struct
import tempfile

import numpy as np

import codeobject
import decoder
from floats import U8
from machine import Machine, Program
from memory import EmulatorError, GlobalMemory

CODE_BASE = 0x7D0000000000      # where code objects are loaded
KERNARG_BASE = 0x7C0000000000
BUFFER_BASE = 0x7F0000000000
RED_ZONE = 4096                 # unmapped bytes between buffers
WAVES_AT_ONCE = 256             # as many as their registers stay in the cache


class LoadedImage:
    """A decoded code object."""

    def __init__(self, elf):
        self.object = codeobject.load(elf)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "image.hsaco")
            with open(path, "wb") as out:
                out.write(elf)
            insts, self.symbols = decoder.disassemble(path)
        self.program = Program(self.object.arch, insts)
        gc.freeze()     # these objects stay: the collector need not look at them again and again

    @property
    def arch(self):
        return self.object.arch

    def kernel(self, name):
        if name not in self.object.kernels:
            raise EmulatorError(f"the code object has no kernel {name}; it has {', '.join(self.object.kernels)}")
        return self.object.kernels[name]


class Result:
    """What a dispatch did: wave instructions executed and LDS races."""

    def __init__(self):
        self.count, self.races = 0, []


def dispatch(image, name, grid, block, arguments, buffers, dynamic_lds=0, limit=50_000_000, observer=None):
    """Runs a kernel. `arguments`: bytes of each explicit argument; `buffers`: (address, uint8 array, name, writable) of all
    memory that the kernel may touch; `observer` is called for each LDS access (banks.py). Raises EmulatorError for what is
    wrong, except races, which the Result lists."""
    kernel = image.kernel(name)
    memory = GlobalMemory()
    for start, data, label, writable in buffers:
        memory.add(start, data, label, writable)
    for address, data in image.object.segments:
        memory.add(CODE_BASE + address, np.frombuffer(data, U8), "the code object", False)
    memory.code_base = CODE_BASE
    memory.kernarg_address = KERNARG_BASE
    memory.kernarg_bytes = codeobject.kernarg(kernel, arguments, grid, block, dynamic_lds).ljust(256, b"\0")
    memory.add(KERNARG_BASE, np.frombuffer(memory.kernarg_bytes, U8), "the kernel arguments", False)
    waves = -(-block[0] * block[1] * block[2] // kernel.wave)
    groups, step, result = grid[0] * grid[1] * grid[2], max(1, WAVES_AT_ONCE // waves), Result()
    for first in range(0, groups, step):
        machine = Machine(image.program, kernel, memory, grid, block, dynamic_lds, first, min(step, groups - first), limit)
        machine.lds.observer = observer
        machine.run()
        result.count += machine.count
        result.races += machine.lds.races
        if len(result.races) >= machine.lds.REPORTS:
            break
    return result


_IMAGES = {}


def load(path):
    """The decoded code object of a file; kept for the next call."""
    with open(path, "rb") as file:
        elf = file.read()
    if path not in _IMAGES or _IMAGES[path][0] != elf:
        _IMAGES[path] = elf, LoadedImage(elf)
    return _IMAGES[path][1]


def _argument(value, size):
    if isinstance(value, float):
        return struct.pack({2: "<e", 4: "<f", 8: "<d"}[size], value)
    return (int(value) & (1 << 8 * size) - 1).to_bytes(size, "little")


def run_kernel(path, name, grid, block, args, dynamic_lds=0, limit=50_000_000):
    """Runs a kernel of a file. `args`: numpy arrays (buffers, changed in place) or numbers, in the order of the parameters."""
    image = load(path)
    sizes = [size for _, size in codeobject.explicit_arguments(image.kernel(name))]
    buffers, values, at = [], [], BUFFER_BASE
    for k, (value, size) in enumerate(zip(args, sizes, strict=True)):
        if isinstance(value, np.ndarray):
            buffers.append((at, value.reshape(-1).view(U8), f"argument {k}", True))
            values.append(_argument(at, 8))
            at += (value.nbytes + 255 & ~255) + RED_ZONE
        else:
            values.append(_argument(value, size))
    return dispatch(image, name, grid, block, values, buffers, dynamic_lds, limit)
