"""Shows that races would be seen: takes each s_barrier out of an AMD image of a library, one at a time, and runs a product.

usage: env TILE_HIP_LIBRARY=libemulatedhip.so amd_barriers.py LIBRARY --image ARCH --shape "M N K dtype transposes"

Prints `B barriers run: R removals reported`, and every barrier whose removal was not.
"""
import argparse
import re
import sys

import numpy as np

import arrays
import emulated
import gemm
import rt

emulator = emulated.emulator


class Without:
    """Builds images whose `hidden`-th barrier does nothing."""

    def __init__(self):
        self.original, self.hidden = emulator.decoder.disassemble, None

    def disassemble(self, path):
        insts, symbols = self.original(path)
        barriers = [k for k, i in enumerate(insts) if i.mnemonic == "s_barrier"]
        if self.hidden is not None:
            k = barriers[self.hidden]
            insts[k] = emulator.decoder.parse(insts[k].pc, insts[k].size, "s_nop 0")
        return insts, symbols


def barriers_that_run(images):
    """Numbers of the barriers that the last launch reached, among those of its image."""
    (_, image), = images.values()
    insts = sorted(image.program.insts.values(), key=lambda i: i.pc)
    barriers = [i.pc for i in insts if i.mnemonic == "s_barrier"]
    return [n for n, pc in enumerate(barriers) if pc in image.program.code]


def report(library, shape):
    """What the launch says; empty when all is well."""
    a, b, c = gemm.operands(emulated.EmulatedArray, shape, arrays.standard_normal, np.random.default_rng(1))
    try:
        gemm.kernel_of(library, shape)(a, b, c)
    except rt.TileError as e:
        return str(e)
    return "wrong result" if gemm.worst_error(c, gemm.expect(a, b, shape), shape) > 1 else ""


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("--image", required=True)
    p.add_argument("--shape", required=True)
    o = p.parse_args()
    m, n, k, dtype, trans = o.shape.split()
    shape = (int(m), int(n), int(k), dtype, trans)
    emulated.install(o.image)
    library, without = rt.Library(o.library), Without()
    library.image_filter(o.image)
    emulator.decoder.disassemble = without.disassemble
    if report(library, shape):
        sys.exit("the library as it is fails: " + report(library, shape))
    run, reported = barriers_that_run(emulated._images), 0
    for number in run:
        without.hidden = number
        emulated._images.clear()
        text = report(library, shape)
        reported += bool(re.search("LDS race", text))
        if "LDS race" not in text:
            print(f"barrier {number}: {text or 'not reported'}")
    print(f"{len(run)} barriers run: {reported} removals reported")


if __name__ == "__main__":
    main()
