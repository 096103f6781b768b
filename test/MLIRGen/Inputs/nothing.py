"""Runs each kernel of nothing.tile, on the CPU or in the emulator of the AMD chip ARCH: the tensor stays as it is.

usage: nothing.py FILE.tile LIBRARY.so HARNESS-FOLDER [ARCH]
"""
import ctypes as c
import re
import sys

import numpy as np

sys.path.insert(0, sys.argv[3])
import rt  # noqa: E402

emulated = None
if len(sys.argv) > 4:
    import emulated
    emulated.install(sys.argv[4])
lib = c.CDLL(sys.argv[2])


def run(kernel, array):
    t = rt.Tensor()
    t.data = array.ctypes.data
    t.device = rt.Device(emulated.ROCM if emulated else 1, 0)
    t.ndim = array.ndim
    t.dtype = rt.DType(*rt.CODES[str(array.dtype)], 1)
    t.shape = (c.c_int64 * array.ndim)(*array.shape)
    launch = rt.Launch()
    launch.struct_size = c.sizeof(rt.Launch)
    launch.device = rt.Device(0, -1)
    launch.variant = -1
    lent = [emulated.Lent(array)] if emulated and array.size else []
    status = getattr(lib, kernel)(c.byref(launch), c.byref(t))
    del lent
    assert status == 0, f"{kernel}: {rt.Library.error(rt.Library(sys.argv[2]), status)}"


for kernel in re.findall(r"^def (\w+)", open(sys.argv[1]).read(), re.M):
    for rows in (130, 2, 0):
        x = np.full((rows, 64), 1.5, np.float16)
        run(kernel, x)
        assert (x == 1.5).all(), kernel
    print("ok", kernel)
