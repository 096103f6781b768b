"""The speed step's times on the CPU: small shapes, no peers, the numbers of a script given.

usage: speed_on_host.py BUNDLE memory LIBRARY [ARGS]    memory_bench.py with a library for the CPU
       speed_on_host.py BUNDLE speed                    how the step shows what its scripts found, none of which runs
"""
import json
import os
import sys
import time
import types

BUNDLE = sys.argv[1]
sys.path.insert(0, os.path.join(BUNDLE, "harness"))
import arrays  # noqa: E402
import memory_bench  # noqa: E402
import run_bundle  # noqa: E402


class Host:
    array, name = arrays.Array, "host"

    def flush(self):
        pass

    def seconds(self, run):
        begin = time.perf_counter()
        run()
        return time.perf_counter() - begin


def memory():
    memory_bench.open_device = lambda: (Host(), "the CPU is the device")
    for shapes in memory_bench.SHAPES.values():
        shapes[:] = [tuple(extent % 32 + 3 for extent in shape) for shape in shapes]
    sys.argv = sys.argv[2:]
    return memory_bench.main()


def speed():
    with open(os.path.join(BUNDLE, "bundle.json"), encoding="utf-8") as f:
        run = run_bundle.Run(json.load(f))

    def script(name, *args, limit=300):
        peer, unit = run_bundle.BENCHES[name]
        key = unit.replace("/", "").lower()
        print(name, *args[1:])
        return True, [""], {"rows": [{"shape": "1x2", f"tilec_{key}": 3, f"{peer}_{key}": 4, "ratio": 0.75}], "missing": None}, 1

    run.script = script
    run_bundle.speed(run, types.SimpleNamespace())
    return 0


sys.exit({"memory": memory, "speed": speed}[sys.argv[2]]())
