"""Deletes each barrier of a launch in turn and wants the stage check to object.

usage: without_barriers.py TILE_OPT FILE     FILE: one module at the end of stage Async
"""
import subprocess
import sys

tool, path = sys.argv[1:]
lines = open(path, encoding="utf-8").read().split("\n")
barriers = [i for i, line in enumerate(lines) if "tile.barrier" in line]
missed = []
for at in barriers:
    text = "\n".join(lines[:at] + lines[at + 1:])
    done = subprocess.run([tool, "--tile-verify-stage=stage=async", "-o", "/dev/null"], input=text, stderr=subprocess.PIPE, text=True)
    if done.returncode == 0 or "no barrier after" not in done.stderr:
        missed.append(f"line {at + 1}: {lines[at].strip()}")
for m in missed:
    print("not missed:", m)
print(f"{len(barriers) - len(missed)} of {len(barriers)} barriers are missed when they are gone")
