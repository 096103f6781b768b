"""Runs each kernel of nothing.tile, on the CPU or on ARCH as calls.py says: the tensor stays as it is.

usage: nothing.py FILE.tile LIBRARY.so HARNESS-FOLDER [ARCH]
"""
import re
import sys

import numpy as np

sys.path.insert(0, sys.argv[3])
from calls import Kernels  # noqa: E402

run = Kernels(sys.argv[2], *sys.argv[4:5])
for kernel in re.findall(r"^def (\w+)", open(sys.argv[1]).read(), re.M):
    for rows in (130, 2, 0):
        x = np.full((rows, 64), 1.5, np.float16)
        run(kernel, x)
        assert (x == 1.5).all(), kernel
    print("ok", kernel)
