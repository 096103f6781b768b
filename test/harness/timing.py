"""Interleaved timings, with the candidates' peers where torch is installed."""
import json
import random

import numpy as np


def open_device():
    """(device, why peers are missing or None)"""
    try:
        import torch_arrays
        return torch_arrays.TorchDevice(), None
    except (ImportError, RuntimeError, AssertionError) as e:
        import cuda_arrays
        return cuda_arrays.CudaDevice(), f"no torch here ({e})"


def fill_normal(array, rng, scale=1):
    """Random normal numbers, made on the device where torch is."""
    if hasattr(array, "data"):
        import torch
        return array.fill(scale * torch.randn(array.shape, device="cuda"))
    return array.fill(scale * rng.standard_normal(array.shape, np.float32))


def measure_rounds(candidates, rounds, device):
    """Seconds of each candidate in each round, over single launches: random order in each round, L2 flushed before each."""
    times = {name: [] for name in candidates}
    for run in candidates.values():
        for _ in range(3):
            run()
    for _ in range(rounds):
        order = list(candidates)
        random.shuffle(order)
        for name in order:
            device.flush()
            times[name].append(device.seconds(candidates[name]))
    return times


def median(values):
    return sorted(values)[len(values) // 2]


def measure(candidates, rounds, device):
    """Median seconds of each candidate."""
    return {name: median(t) for name, t in measure_rounds(candidates, rounds, device).items()}


def ratio_of(times, name, base):
    """Median over the rounds of one candidate's time over another's in the same round: a chip's clock drifts by more than the
    difference between two kernels. A product beside its own copy: within 0.25 %."""
    return median([x / y for x, y in zip(times[name], times[base])])


UNITS = {"tflops": 1e12, "gbs": 1e9}


def against(times, peer, work, unit="tflops", others=("rival",)):
    """A row of results: TFLOP/s (or GB/s) of both, peer time / our time, and so for other candidates; None for those not there."""
    row = {f"tilec_{unit}": work / times["tilec"] / UNITS[unit], f"{peer}_{unit}": None, "ratio": None}
    if peer in times:
        row.update({f"{peer}_{unit}": work / times[peer] / UNITS[unit], "ratio": times[peer] / times["tilec"]})
    row.update({f"{name}_ratio": times[name] / times["tilec"] if name in times else None for name in others})
    return row


def finish(file, device, missing, rows, absent):
    """Says what is `absent` where peers are missing, writes the rows to the file, if any; the exit status: 1 where a row's error is
    above its bound (None: nothing was checked)."""
    if missing:
        print(f"{absent}:", missing)
    if file:
        with open(file, "w", encoding="utf-8") as f:
            json.dump({"device": device.name, "missing": missing, "rows": rows}, f, indent=1)
    return 0 if all(r["error"] is None or r["error"] <= 1 for r in rows) else 1


def cell(number, form):
    return "-".rjust(len(format(0, form))) if number is None else format(number, form)
