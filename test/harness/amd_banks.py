"""Bank conflicts of LDS in the kernels of an AMD library, by the model in amdemu/banks.py.

usage: env TILE_HIP_LIBRARY=libemulatedhip.so amd_banks.py LIBRARY --image ARCH (--shape "M N K dtype transposes" | --attention DTYPE)

Prints cycles with and without conflicts for each kind of LDS instruction, and their ratio over all.
"""
import argparse
import sys

import numpy as np

import arrays
import emulated
import gemm
import kernels
import rt

import banks


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("--image", required=True)
    p.add_argument("--shape")
    p.add_argument("--attention")
    o = p.parse_args()
    emulated.install(o.image)
    library, counter = rt.Library(o.library), banks.Counter()
    library.image_filter(o.image)
    emulated.observers.append(counter)
    if o.shape:
        m, n, k, dtype, trans = o.shape.split()
        shape = (int(m), int(n), int(k), dtype, trans)
        gemm.kernel_of(library, shape)(*gemm.operands(emulated.EmulatedArray, shape, arrays.standard_normal, np.random.default_rng(1)))
    if o.attention:
        case = next(c for c in kernels.attention(True) if c[2] == kernels.DTYPES[o.attention] and c[4][2] == 77)
        kernels.one(library, emulated.EmulatedArray, case, 1)
    for line in counter.lines():
        print(line)
    print(f"ratio {sum(counter.cycles.values()) / max(1, sum(counter.ideal.values())):.2f}")


if __name__ == "__main__":
    sys.exit(main())
