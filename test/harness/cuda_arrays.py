"""arrays.Array on a CUDA device through the driver alone, and the few other things a test asks of a device.

Needs libcuda.so.1 and numpy. torch_arrays.py offers the same with torch.
"""
import ctypes as c
import time

import arrays

# Several times what the L2 cache holds, and long enough for the host to come with the next launch before the device is done.
FLUSH = 512 << 20
_driver = None


class Driver:
    """The functions of libcuda.so.1; every call is checked. Device 0, in its primary context."""

    def __init__(self):
        try:
            self.lib = c.CDLL("libcuda.so.1")
        except OSError as e:
            raise RuntimeError(f"no CUDA driver on this machine ({e})") from None
        self("cuInit", 0)
        self.device, self.context, name = c.c_int(), c.c_void_p(), c.create_string_buffer(256)
        self("cuDeviceGet", c.byref(self.device), 0)
        self("cuDeviceGetName", name, 256, self.device)
        self.name = name.value.decode()
        self("cuDevicePrimaryCtxRetain", c.byref(self.context), self.device)
        self("cuCtxSetCurrent", self.context)

    def __call__(self, function, *args):
        status = getattr(self.lib, function)(*args)
        if status:
            raise RuntimeError(f"{function}: CUDA error {status}")

    def allocate(self, size):
        address = c.c_uint64()
        self("cuMemAlloc_v2", c.byref(address), c.c_size_t(size))
        return address.value

    def free(self, address):
        self.lib.cuMemFree_v2(c.c_uint64(address))

    def upload(self, address, host):
        self("cuMemcpyHtoD_v2", c.c_uint64(address), c.c_void_p(host.ctypes.data), c.c_size_t(host.nbytes))

    def download(self, host, address):
        self("cuMemcpyDtoH_v2", c.c_void_p(host.ctypes.data), c.c_uint64(address), c.c_size_t(host.nbytes))

    def event(self):
        event = c.c_void_p()
        self("cuEventCreate", c.byref(event), 0)
        return event


def driver():
    global _driver
    if _driver is None:
        _driver = Driver()
    return _driver


class CudaArray(arrays.Array):
    """Keeps a copy on the host: filled there and sent, fetched and read there."""

    device_type = 2

    def __init__(self, shape, dtype):
        super().__init__(shape, dtype)
        self.memory = driver().allocate(self.storage.nbytes)

    def __del__(self):
        if hasattr(self, "memory"):
            driver().free(self.memory)

    @property
    def address(self):
        return self.memory + arrays.GUARD * self.storage.itemsize

    def fill(self, values):
        super().fill(values)
        driver().upload(self.memory, self.storage)
        return self

    def poison(self):
        super().poison()
        driver().upload(self.memory, self.storage)
        return self

    def values(self):
        driver().download(self.storage, self.memory)
        return super().values()

    def synchronize(self):
        driver()("cuCtxSynchronize")

    def guards_intact(self):
        driver().download(self.storage, self.memory)
        return super().guards_intact()


class CudaDevice:
    """What tests and timings ask of a device."""

    array = CudaArray

    def __init__(self):
        self.driver = driver()
        self.name = self.driver.name
        self.begin, self.end, self.mark = (self.driver.event() for _ in range(3))
        self.flushed = None

    def flush(self):
        """Empties the L2 cache and keeps the device busy for a while."""
        if self.flushed is None:
            self.flushed = self.driver.allocate(FLUSH)
        self.driver("cuMemsetD8Async", c.c_uint64(self.flushed), c.c_ubyte(0), c.c_size_t(FLUSH), None)

    def seconds(self, run):
        """Time of the work that `run` gives to the default stream, by events around it."""
        milliseconds = c.c_float()
        self.driver("cuEventRecord", self.begin, None)
        run()
        self.driver("cuEventRecord", self.end, None)
        self.driver("cuEventSynchronize", self.end)
        self.driver("cuEventElapsedTime", c.byref(milliseconds), self.begin, self.end)
        return milliseconds.value * 1e-3

    def finished_within(self, seconds):
        """Waits for all work so far; False when it takes longer."""
        self.driver("cuEventRecord", self.mark, None)
        until = time.monotonic() + seconds
        while (status := self.driver.lib.cuEventQuery(self.mark)) == 600:  # not ready
            if time.monotonic() > until:
                return False
            time.sleep(1e-4)
        if status:
            raise RuntimeError(f"the kernel failed: CUDA error {status}")
        return True
