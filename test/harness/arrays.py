"""Arrays of any element type on the CPU (numpy) or on a GPU (torch): random data, NaN poison, guard bands, float64 values.

bfloat16 is kept as 16-bit words, fp8 as bytes; conversions round to nearest even and saturate where the language demands it.
"""
import numpy as np

UNIT = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8}  # unit round-off of each element type
# Elements in front of and behind every output. Data start as aligned as allocators would have them: 256 bytes and more.
GUARD = 512
_WORDS = {"float32": np.float32, "float16": np.float16, "bfloat16": np.uint16, "float64": np.float64, "int32": np.int32,
          "int8": np.int8, "uint8": np.uint8, "bool": np.uint8, "float8_e4m3": np.uint8, "float8_e5m2": np.uint8}
_FLOAT8 = {"float8_e4m3": (3, 7, 0x7E), "float8_e5m2": (2, 15, 0x7B)}  # bits behind the point, bias, largest finite number


def float8_values(dtype):
    """The number that each of the 256 bytes stands for."""
    mantissa, bias, largest = _FLOAT8[dtype]
    bits = np.arange(128)
    exponent, fraction = bits >> mantissa, (bits & ((1 << mantissa) - 1)) / 2.0**mantissa
    half = np.where(exponent == 0, fraction * 2.0**(1 - bias), (1 + fraction) * np.exp2(exponent - bias))
    half[largest + 1:] = np.nan
    if dtype == "float8_e5m2":
        half[0x7C] = np.inf
    return np.concatenate([half, -half])


def to_float8(values, dtype):
    numbers = float8_values(dtype)[:_FLOAT8[dtype][2] + 1]
    size = np.abs(values)
    at = np.clip(np.searchsorted(numbers, size), 1, len(numbers) - 1)  # between numbers[at - 1] and numbers[at], or beyond
    middle = (numbers[at - 1] + numbers[at]) / 2
    even = (at & 1) == 0
    bits = np.where((size > middle) | ((size == middle) & even), at, at - 1)
    bits = np.where(np.isnan(values), 0x7F, bits)
    return (bits | np.where(np.signbit(values), 0x80, 0)).astype(np.uint8)


def to_words(values, dtype):
    """float64 values rounded to the element type's storage."""
    if dtype in _FLOAT8:
        return to_float8(np.asarray(values, np.float64), dtype)
    if dtype in ("int8", "uint8"):
        return np.clip(np.trunc(values), np.iinfo(dtype).min, np.iinfo(dtype).max).astype(dtype)
    if dtype != "bfloat16":
        with np.errstate(over="ignore"):
            return values.astype(_WORDS[dtype])
    # Round once: through float32 only if it is exact there, which random data made by this module is.
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)


def to_float64(words, dtype):
    if dtype == "bfloat16":
        return (words.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if dtype in _FLOAT8:
        return float8_values(dtype)[words]
    return words.astype(np.float64)


def byte_bounds(array):
    """First address of an array that is not empty and the one behind its last; numpy 1 and 2 keep this in different places."""
    steps = [(n - 1) * s for n, s in zip(array.shape, array.strides)]
    low = array.ctypes.data + sum(min(s, 0) for s in steps)
    return low, array.ctypes.data + sum(max(s, 0) for s in steps) + array.itemsize


class Array:
    """A tensor with guard bands. `storage` is a flat numpy array or torch tensor of storage words."""

    device_type, device_id = 1, 0

    def __init__(self, shape, dtype):
        self.shape, self.dtype, self.strides = tuple(int(s) for s in shape), dtype, None
        self.size = int(np.prod(self.shape, dtype=np.int64)) if self.shape else 1
        self.storage = np.empty(self.size + 2 * GUARD, _WORDS[dtype])

    @property
    def address(self):
        return self.storage.ctypes.data + GUARD * self.storage.itemsize

    def words(self):
        return self.storage[GUARD:GUARD + self.size].reshape(self.shape)

    def fill(self, values):
        self.words()[...] = to_words(np.asarray(values), self.dtype).reshape(self.shape)
        return self

    def poison(self):
        """NaN everywhere, guards included (a pattern for types that have none)."""
        if self.dtype == "bfloat16":
            self.storage[...] = 0x7FC1
        elif self.dtype in _FLOAT8:
            self.storage[...] = 0x7F
        elif self.dtype.startswith("float"):
            self.storage[...] = np.nan
        else:
            self.storage[...] = 0x5B
        self.snapshot = self.storage.copy()
        return self

    def values(self):
        return to_float64(self.words(), self.dtype)

    def synchronize(self):
        """The CPU back end has finished when the call returns."""

    def guards_intact(self):
        head, tail = self.storage[:GUARD], self.storage[GUARD + self.size:]
        old_head, old_tail = self.snapshot[:GUARD], self.snapshot[GUARD + self.size:]
        return head.tobytes() == old_head.tobytes() and tail.tobytes() == old_tail.tobytes()


def standard_normal(rng, shape):
    return rng.standard_normal(shape)


def wide_range(rng, shape):
    """Magnitudes 2^-14 to 2^14, either sign."""
    return np.exp2(rng.uniform(-14, 14, shape)) * rng.choice([-1.0, 1.0], shape)
