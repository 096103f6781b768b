"""arrays.Array on an emulated AMD device: kernels of compiled libraries run in test/amdemu, through the runtime as it is.

The runtime opens what TILE_HIP_LIBRARY names; here that must be libemulatedhip.so. Only tensors that are alive may be touched by
a kernel, inputs only read; everything between them is a red zone. A wild access, an LDS race or a deadlock makes the launch fail,
and the runtime's error carries what the emulator says.
"""
import ctypes as c
import os
import sys
import traceback
import weakref

import numpy as np

import arrays

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "amdemu"))
import codeobject  # noqa: E402
import emulator  # noqa: E402

ROCM = 10           # kDLROCM
RED_ZONE = 4096     # bytes on either side of a tensor
_FAILED = 1
_LAUNCH = c.CFUNCTYPE(c.c_int32, c.c_void_p, c.c_char_p, c.POINTER(c.c_uint32), c.POINTER(c.c_uint32), c.c_uint32,
                      c.POINTER(c.c_void_p), c.c_void_p, c.c_uint32)
_live = weakref.WeakSet()
_images = {}        # address -> (bytes, LoadedImage)
observers = []      # called for each LDS access (amdemu/banks.py)


class EmulatedArray(arrays.Array):
    device_type, device_id = ROCM, 0

    def __init__(self, shape, dtype):
        super().__init__(shape, dtype)
        count = self.storage.nbytes + 2 * RED_ZONE
        self.room = np.zeros(count + 256, np.uint8)
        start = -self.room.ctypes.data % 256 + RED_ZONE
        self.storage = self.room[start:start + self.storage.nbytes].view(self.storage.dtype)
        self.writable = False
        _live.add(self)

    def poison(self):
        self.writable = True
        return super().poison()

    def buffer(self):
        """What a kernel may touch."""
        return self.address, self.words().reshape(-1).view(np.uint8), f"a tensor {self.dtype}{list(self.shape)}", self.writable


class Lent:
    """A numpy array of somebody else's that kernels may read and write as long as this object lives."""

    def __init__(self, array):
        self.low, high = arrays.byte_bounds(array)
        self.size, self.keep = high - self.low, array
        _live.add(self)

    def buffer(self):
        return self.low, np.ctypeslib.as_array((c.c_uint8 * self.size).from_address(self.low)), "an array", True


def _image(address):
    size = codeobject.elf_size(c.string_at(address, 64))
    elf = c.string_at(address, size)
    if address not in _images or _images[address][0] != elf:
        _images[address] = elf, emulator.LoadedImage(elf)
    return _images[address][1]


def _run(image, name, grid, block, shared, parameters):
    loaded = _image(image)
    sizes = codeobject.explicit_arguments(loaded.kernel(name))
    values = [c.string_at(parameters[k], size) for k, (_, size) in enumerate(sizes)]
    buffers = [a.buffer() for a in _live if a.size]
    observer = observers[-1] if observers else None
    return emulator.dispatch(loaded, name, tuple(grid[:3]), tuple(block[:3]), values, buffers, shared, observer=observer).races


def _launch(image, name, grid, block, shared, parameters, error, size):
    try:
        races = _run(image, name.decode(), grid, block, shared, parameters)
        text = races[0] if races else ""
    except emulator.EmulatorError as e:
        text = str(e)
    except Exception:    # nothing may leave a callback
        text = "the emulator failed: " + traceback.format_exc()
    if text:
        raw = text.encode()[:size - 1] + b"\0"
        c.memmove(error, raw, len(raw))
    return _FAILED if text else 0


_callback = _LAUNCH(_launch)


def install(arch):
    """Makes the emulated driver a device with chip `arch`. Call it before the runtime looks for devices."""
    path = os.environ.get("TILE_HIP_LIBRARY", "")
    if "emulatedhip" not in path:
        sys.exit("set TILE_HIP_LIBRARY to libemulatedhip.so of the build (build/lib)")
    driver = c.CDLL(path)
    driver.emulated_hip_set.argtypes = [c.c_char_p, _LAUNCH]
    driver.emulated_hip_set.restype = None
    driver.emulated_hip_set(f"{arch}:sramecc+:xnack-".encode(), _callback)
    return driver
