"""Calls of a compiled library's kernels with numpy arrays, where the kernels write into them, on any device.

The arrays are what they are, strides and all; on a GPU their bytes go there and come back.
"""
import ctypes as c

import numpy as np

import arrays
import rt


class Float8:
    """Bytes that hold float8_e4m3."""

    def __init__(self, words):
        self.words = words


class _Copied:
    """An array's bytes on the GPU while a kernel runs."""

    def __init__(self, driver, array):
        self.driver = driver
        self.low, high = arrays.byte_bounds(array)
        self.bytes = np.ctypeslib.as_array((c.c_uint8 * (high - self.low)).from_address(self.low))
        self.memory = driver.allocate(self.bytes.size)
        driver.upload(self.memory, self.bytes)

    def address(self, array):
        return self.memory + array.ctypes.data - self.low

    def fetch(self):
        self.driver.download(self.bytes, self.memory)
        self.driver.free(self.memory)


class Kernels:
    """The kernels of LIBRARY: on the CPU; in the emulator of the AMD chip `arch` (then TILE_HIP_LIBRARY must be
    libemulatedhip.so); or on this machine's NVIDIA GPU with the image `arch`."""

    def __init__(self, library, arch="cpu"):
        self.lib, self.library = c.CDLL(library), rt.Library(library)
        self.emulated = self.driver = None
        self.device = rt.Device(1, 0)
        if arch.startswith("gfx"):
            import emulated
            emulated.install(arch)
            self.emulated, self.device = emulated, rt.Device(emulated.ROCM, 0)
        elif arch != "cpu":
            import cuda_arrays
            self.driver, self.device = cuda_arrays.driver(), rt.Device(2, 0)
            self.library.image_filter(arch)

    def _tensor(self, array, address, code, bits):
        t = rt.Tensor()
        t.data, t.device, t.ndim, t.dtype = address, self.device, array.ndim, rt.DType(code, bits, 1)
        t.shape = (c.c_int64 * max(array.ndim, 1))(*array.shape)
        if not array.flags.c_contiguous:
            t.strides = (c.c_int64 * array.ndim)(*[s // array.itemsize for s in array.strides])
        return t

    def __call__(self, kernel, *args):
        """Arguments are arrays, Float8 and ctypes scalars; waits for the kernel. rt.TileError if it fails."""
        launch = rt.Launch(struct_size=c.sizeof(rt.Launch), device=rt.Device(0, -1), variant=-1)
        passed, held = [], []
        for a in args:
            if not isinstance(a, (np.ndarray, Float8)):
                passed.append(a)
                continue
            array = a.words if isinstance(a, Float8) else a
            code, bits = (10, 8) if isinstance(a, Float8) else rt.CODES[str(array.dtype)]
            address = array.ctypes.data
            if array.size and self.emulated:
                held.append(self.emulated.Lent(array))
            elif array.size and self.driver:
                held.append(_Copied(self.driver, array))
                address = held[-1].address(array)
            passed.append(self._tensor(array, address, code, bits))
        status = getattr(self.lib, kernel)(c.byref(launch), *[c.byref(p) if isinstance(p, rt.Tensor) else p for p in passed])
        if status:
            raise rt.TileError(status, f"{kernel}: {self.library.error(status)}")
        if self.driver:
            self.driver("cuCtxSynchronize")
            for there in held:
                there.fetch()
