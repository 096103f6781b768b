"""ctypes view of tile_rt.h: tensors, launches, errors. Works with numpy arrays and torch tensors alike."""
import ctypes as c

CODES = {"bool": (6, 8), "int8": (0, 8), "int16": (0, 16), "int32": (0, 32), "int64": (0, 64), "uint8": (1, 8),
         "uint16": (1, 16), "uint32": (1, 32), "uint64": (1, 64), "float16": (2, 16), "bfloat16": (4, 16),
         "float32": (2, 32), "float64": (2, 64), "float8_e4m3": (10, 8), "float8_e5m2": (12, 8)}


class DType(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class Device(c.Structure):
    _fields_ = [("type", c.c_int32), ("id", c.c_int32)]


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device", Device), ("ndim", c.c_int32), ("dtype", DType),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class Launch(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("flags", c.c_uint32), ("stream", c.c_void_p), ("device", Device),
                ("variant", c.c_int32), ("reserved", c.c_int32), ("workspace", c.c_void_p),
                ("workspace_bytes", c.c_uint64)]


class ErrorInfo(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("status", c.c_int32), ("native_api", c.c_int32),
                ("native_code", c.c_int32), ("arg_index", c.c_int32), ("dim", c.c_int32), ("expected", c.c_int64),
                ("actual", c.c_int64), ("kernel", c.c_char_p), ("message", c.c_char_p)]


LOG_FN = c.CFUNCTYPE(None, c.c_void_p, c.c_int32, c.c_char_p)


class TileError(Exception):
    def __init__(self, status, message):
        super().__init__(f"{message} [status {status}]")
        self.status = status


class Library:
    """A shared object that holds compiled kernels and the runtime."""

    def __init__(self, path):
        self.lib = c.CDLL(path)
        self.log = []

    def keep_log(self):
        """Collects what the runtime says about images and launches."""
        self.callback = LOG_FN(lambda user, level, text: self.log.append(text.decode()))
        self.lib.tile_set_log(self.callback, None)

    def image_filter(self, arch):
        status = self.lib.tile_rt_set_image_filter(arch.encode() if arch else None)
        if status:
            raise TileError(status, "image filter")

    def threads(self, n):
        if self.lib.tile_set_num_threads(n):
            raise TileError(-1, f"cannot use {n} threads")

    def error(self, status):
        info = ErrorInfo(struct_size=c.sizeof(ErrorInfo))
        self.lib.tile_last_error(c.byref(info))
        return TileError(status, (info.message or b"?").decode())

    def kernel(self, name):
        """A callable: tensors are arrays.Array or TorchArray, scalars are ctypes values. `stream` is an integer handle."""
        function = getattr(self.lib, name)
        function.restype = c.c_int32

        def call(*args, stream=None):
            keep, values = [], []
            for a in args:
                if hasattr(a, "address"):
                    tensor = describe(a, keep)
                    keep.append(tensor)
                    values.append(c.byref(tensor))
                else:
                    values.append(a)
            launch = Launch(struct_size=c.sizeof(Launch), stream=stream, variant=-1)
            launch.device.id = -1
            status = function(c.byref(launch), *values)
            if status:
                raise self.error(status)

        return call


def describe(a, keep):
    n = len(a.shape)
    shape = (c.c_int64 * max(n, 1))(*a.shape)
    strides = (c.c_int64 * max(n, 1))(*a.strides) if a.strides is not None else None
    keep += [shape, strides]
    code, bits = CODES[a.dtype]
    return Tensor(a.address, Device(a.device_type, a.device_id), n, DType(code, bits, 1), shape, strides, 0)
