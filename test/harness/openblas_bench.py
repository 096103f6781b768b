"""Times the float32 product of samples/gemm on the CPU against OpenBLAS, interleaved, medians, for 1 and 2 threads.

usage: openblas_bench.py LIBRARY [--rounds N]

Run it pinned: taskset -c 0,1. Unset OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE: they may slow OpenBLAS down.
"""
import argparse
import ctypes as c
import os
import sys
import time

import numpy as np

import arrays
import rt

SHAPES = [(512, 512, 512), (1024, 1024, 1024), (1000, 1032, 712), (2048, 2048, 2048)]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("--rounds", type=int, default=20)
    o = p.parse_args()
    blas = c.CDLL("libopenblas.so.0")
    blas.openblas_get_corename.restype = c.c_char_p
    set_here = [v for v in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE") if v in os.environ]
    print("OpenBLAS core", blas.openblas_get_corename().decode(), "settings", set_here or "none")
    library = rt.Library(o.library)
    kernel = library.kernel("gemm_f32_nn_matmul")
    rng = np.random.default_rng(0)
    for threads in (1, 2):
        library.threads(threads)
        blas.openblas_set_num_threads(threads)
        for m, n, k in SHAPES:
            a = arrays.Array((m, k), "float32").fill(rng.standard_normal((m, k)))
            b = arrays.Array((k, n), "float32").fill(rng.standard_normal((k, n)))
            ours, theirs = arrays.Array((m, n), "float32").poison(), np.full((m, n), np.nan, np.float32)
            args = [101, 111, 111, m, n, k, c.c_float(1), c.c_void_p(a.address), k, c.c_void_p(b.address), n, c.c_float(0),
                    c.c_void_p(theirs.ctypes.data), n]
            times = {"tilec": [], "openblas": []}
            for _ in range(o.rounds):
                for name, run in (("tilec", lambda: kernel(a, b, ours)), ("openblas", lambda: blas.cblas_sgemm(*args))):
                    start = time.perf_counter()
                    run()
                    times[name].append(time.perf_counter() - start)
            assert np.allclose(ours.words(), theirs, rtol=1e-3, atol=1e-2)
            med = {name: sorted(t)[len(t) // 2] for name, t in times.items()}
            print(f"{threads} thread(s) {m}x{n}x{k}: tilec {2e-9 * m * n * k / med['tilec']:.0f}  "
                  f"OpenBLAS {2e-9 * m * n * k / med['openblas']:.0f} GFLOP/s  ratio {med['openblas'] / med['tilec']:.3f}")


if __name__ == "__main__":
    sys.exit(main())
