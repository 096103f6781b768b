"""arrays.Array on a CUDA device, and the device itself, through torch: for timings against its products and attention."""
import numpy as np
import torch

import arrays
from cuda_arrays import FLUSH

_TORCH = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16, "float64": torch.float64,
          "int8": torch.int8, "uint8": torch.uint8, "int32": torch.int32, "float8_e4m3": torch.float8_e4m3fn,
          "float8_e5m2": torch.float8_e5m2}


class TorchArray:
    device_type, device_id = 2, 0

    def __init__(self, shape, dtype):
        self.shape, self.dtype, self.strides = tuple(int(s) for s in shape), dtype, None
        self.size = int(np.prod(self.shape, dtype=np.int64)) if self.shape else 1
        self.storage = torch.empty(self.size + 2 * arrays.GUARD, dtype=_TORCH[dtype], device="cuda")

    @property
    def address(self):
        return self.storage.data_ptr() + arrays.GUARD * self.storage.element_size()

    def data(self):
        return self.storage[arrays.GUARD:arrays.GUARD + self.size].reshape(self.shape)

    def fill(self, values):
        t = torch.from_numpy(np.ascontiguousarray(values)) if isinstance(values, np.ndarray) else values
        self.data().copy_(t.to("cuda").to(_TORCH[self.dtype]))
        return self

    def poison(self):
        self.storage.fill_(float("nan") if self.storage.dtype.is_floating_point else 0x5B)
        self.guards = [g.clone() for g in self.guard_bytes()]
        return self

    def guard_bytes(self):
        bands = self.storage[:arrays.GUARD], self.storage[arrays.GUARD + self.size:]
        return [band.view(torch.uint8) for band in bands]

    def values(self):
        return self.data().to(torch.float64).cpu().numpy()

    def synchronize(self):
        torch.cuda.synchronize()

    def guards_intact(self):
        return all(torch.equal(now, before) for now, before in zip(self.guard_bytes(), self.guards))


def worst(got, reference, limit):
    """bounds.worst on the device, which has float64 of this size sooner: largest error over its limit, infinite for a NaN."""
    error = (got - reference).abs()
    return (error / limit).masked_fill_(error == 0, 0).nan_to_num(nan=float("inf")).max().item()


class TorchDevice:
    """cuda_arrays.CudaDevice with torch's events."""

    array = TorchArray

    def __init__(self):
        torch.manual_seed(0)
        torch.backends.cuda.matmul.allow_tf32 = False
        self.name = torch.cuda.get_device_name()
        self.flushed = torch.empty(FLUSH, dtype=torch.uint8, device="cuda")

    def flush(self):
        self.flushed.zero_()

    def seconds(self, run):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3
