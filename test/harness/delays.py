"""Runs a library built with --sanitize=schedule under many seeds: each must give the right result.

usage: delays.py LIBRARY [--image ARCH] [--seeds N] [--gemm "M N K dtype transposes"].. [--sample NAME].. [--wrong-is-right] [--json FILE]

A kernel that has not ended after 10 seconds counts as hanging; the process ends there, since the device cannot be had back.
--wrong-is-right is for builds that lack a wait: some seed must give a wrong result, a failure or a hang. Exit status 1 when it
is not as it should be.
"""
import argparse
import json
import os
import sys

import numpy as np

import arrays
import cuda_arrays
import gemm
import kernels
import rt

HANG = 10


class Product:
    """One matrix product whose inputs and float64 result are made once."""

    def __init__(self, device, library, text):
        m, n, k, dtype, trans = text.split()
        self.label, self.shape = "gemm " + text, (int(m), int(n), int(k), dtype, trans)
        self.a, self.b, self.c = gemm.operands(device.array, self.shape, arrays.standard_normal, np.random.default_rng(1))
        self.expected = gemm.expect(self.a, self.b, self.shape)
        self.device, self.kernel = device, gemm.kernel_of(library, self.shape)

    def run(self):
        """"", "hang" or what is wrong."""
        self.c.poison()
        self.kernel(self.a, self.b, self.c)
        if not self.device.finished_within(HANG):
            return "hang"
        worst = gemm.worst_error(self.c, self.expected, self.shape)
        return "" if worst <= 1 else f"error {worst:.3g} times its bound"


class Sample:
    """All small cases of another sample."""

    def __init__(self, device, library, name, dtype):
        self.label, self.library, self.device = f"{name} {dtype}", library, device
        self.cases = [case for case in getattr(kernels, name)(True) if case[2] == dtype]

    def run(self):
        for number, case in enumerate(self.cases):
            wrong, _ = kernels.one(self.library, self.device.array, case, [1, number])
            if wrong:
                return f"{case[0]}: {wrong[0]}"
        return ""


def try_seeds(case, seeds):
    """Results by seed; ends early where the device is lost."""
    results = []
    for seed in range(seeds):
        os.environ["TILE_SCHEDULE_SEED"] = str(seed)  # the runtime reads it at each launch
        try:
            results.append(case.run())
        except RuntimeError as e:
            return results + [str(e)], True
        if results[-1] == "hang":
            return results, True
    return results, False


def main():
    p = argparse.ArgumentParser()
    p.add_argument("library")
    p.add_argument("--image")
    p.add_argument("--seeds", type=int, default=20)
    p.add_argument("--gemm", action="append", default=[])
    p.add_argument("--sample", action="append", default=[])
    p.add_argument("--wrong-is-right", action="store_true")
    p.add_argument("--json")
    o = p.parse_args()
    device, library, rows, good = cuda_arrays.CudaDevice(), rt.Library(o.library), [], True
    if o.image:
        library.image_filter(o.image)
    makers = [lambda t=t: Product(device, library, t) for t in o.gemm]
    makers += [lambda s=s: Sample(device, library, *s.split()) for s in o.sample]
    for make in makers:
        case = make()
        results, lost = try_seeds(case, o.seeds)
        bad = [seed for seed, wrong in enumerate(results) if wrong]
        good &= bool(bad) == o.wrong_is_right
        rows.append({"case": case.label, "image": o.image, "seeds": len(results), "wrong": bad, "first": results[bad[0]] if bad else None})
        print(f"{case.label:36s} {len(results) - len(bad):3d} of {len(results)} seeds right" +
              (f"; seed {bad[0]}: {results[bad[0]]}" if bad else ""), flush=True)
        if lost:
            break
    if o.json:
        with open(o.json, "w", encoding="utf-8") as f:
            json.dump(rows, f, indent=1)
    print("ok" if good else "NOT AS IT SHOULD BE", flush=True)
    os._exit(0 if good else 1)  # without the driver's clean-up, which would wait for a kernel that hangs


if __name__ == "__main__":
    sys.exit(main())
