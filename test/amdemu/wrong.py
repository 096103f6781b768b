"""Kernels with mistakes (Inputs/wrong.cl): what the emulator says about each.

usage: wrong.py [--target gfx942]

Prints `KERNEL: report` for each, for FileCheck; `clean` where there must be none.
"""
import argparse
import os
import tempfile

import numpy as np

import emulator
from memory import EmulatorError
from selftest import HERE, compile_kernels

LAUNCHES = [("missing_barrier", 256, 512), ("both_barriers", 256, 512), ("halves_of_dwords", 128, None), ("same_bytes", 128, None),
            ("wild_read", 64, 65), ("wild_write", 64, 512), ("writes_input", 64, 0), ("outside_lds", 64, 1), ("deadlock", 128, 64),
            ("endless", 64, 1), ("unwritten", 64, 0)]


def launch(path, name, threads, n):
    """The report of one launch over 128 inputs and 512 outputs (512 inputs for the products)."""
    half = n is None
    a = np.ones(128 if half else 512 if "barrier" in name else 128, np.float16 if half else np.float32)
    out = np.zeros(512, a.dtype)
    image = emulator.load(path)
    values = [at.to_bytes(8, "little") for at in (emulator.BUFFER_BASE, emulator.BUFFER_BASE + 65536)]
    values += [] if half else [n.to_bytes(4, "little")]
    buffers = [(emulator.BUFFER_BASE, a.view(np.uint8), "the input", False),
               (emulator.BUFFER_BASE + 65536, out.view(np.uint8), "the output", True)]
    try:
        result = emulator.dispatch(image, name, (1, 1, 1), (threads, 1, 1), values, buffers, limit=100000)
    except EmulatorError as e:
        return str(e)
    if result.races:
        return result.races[0]
    return "NaN in the output" if np.isnan(out).any() else "clean"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--target", default="gfx942")
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "wrong.hsaco")
        compile_kernels(os.path.join(HERE, "Inputs", "wrong.cl"), o.target, path)
        for name, threads, n in LAUNCHES:
            print(f"{name}: {launch(path, name, threads, n)}")


if __name__ == "__main__":
    main()
