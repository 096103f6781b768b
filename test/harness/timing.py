"""Interleaved timings, with the candidates' peers where torch is installed."""
import random


def open_device():
    """(device, why peers are missing or None)"""
    try:
        import torch_arrays
        return torch_arrays.TorchDevice(), None
    except (ImportError, RuntimeError, AssertionError) as e:
        import cuda_arrays
        return cuda_arrays.CudaDevice(), f"no torch here ({e})"


def measure(candidates, rounds, device):
    """Median seconds of each candidate over single launches: random order in each round, L2 flushed before each."""
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
    return {name: sorted(t)[len(t) // 2] for name, t in times.items()}


def against(times, peer, work):
    """A row of results: TFLOP/s of both and peer time / our time; None where there is no peer."""
    row = {"tilec_tflops": work / times["tilec"] / 1e12, f"{peer}_tflops": None, "ratio": None}
    if peer in times:
        row.update({f"{peer}_tflops": work / times[peer] / 1e12, "ratio": times[peer] / times["tilec"]})
    return row


def cell(number, form):
    return "-".rjust(len(format(0, form))) if number is None else format(number, form)
