"""The emulated HIP driver (test/harness/emulated_hip.c) as the runtime sees it: loads code objects, launches, reports.

usage: env TILE_HIP_LIBRARY=libemulatedhip.so driver.py

Prints a line for each launch: kernel, code of hipModuleLaunchKernel, hipGetErrorString where it failed.
"""
import ctypes as c
import os
import sys
import tempfile

import numpy as np

from selftest import HERE, compile_kernels

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "harness"))
import emulated  # noqa: E402

TARGET = "gfx942"


def launch(driver, module, name, threads, arrays, n):
    function = c.c_void_p()
    assert driver.hipModuleGetFunction(c.byref(function), module, name.encode()) == 0
    values = [c.c_void_p(a.address) for a in arrays] + [c.c_int(n)]
    parameters = (c.c_void_p * len(values))(*[c.addressof(v) for v in values])
    return driver.hipModuleLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, None, parameters, None)


def main():
    driver = emulated.install(TARGET)
    driver.hipGetErrorString.restype = c.c_char_p
    properties, count = c.create_string_buffer(8192), c.c_int32()
    driver.hipGetDevicePropertiesR0600(properties, 0)
    driver.hipGetDeviceCount(c.byref(count))
    print(f"devices: {count.value} {properties[1160:1186].decode()}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "wrong.hsaco")
        compile_kernels(os.path.join(HERE, "Inputs", "wrong.cl"), TARGET, path)
        with open(path, "rb") as file:
            image = c.create_string_buffer(file.read())
    module = c.c_void_p()
    assert driver.hipModuleLoadData(c.byref(module), image) == 0
    a = emulated.EmulatedArray((512,), "float32").fill(np.arange(512))
    o = emulated.EmulatedArray((256,), "float32").poison()
    for name, n in (("both_barriers", 512), ("missing_barrier", 512), ("wild_read", 512), ("wild_write", 256), ("writes_input", 0)):
        code = launch(driver, module, name, 256 if "barrier" in name else 64, (a, o), n)
        print(f"{name}: {code} {driver.hipGetErrorString(code).decode() if code else o.values()[:2]}")
    print("guards", "intact" if o.guards_intact() else "broken")


if __name__ == "__main__":
    main()
