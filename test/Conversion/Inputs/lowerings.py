"""Every op that a conversion handles must reach it in one of its tests. usage: lowerings.py ROOT TILE-OPT

Handled: the class of the op is named in the sources of the conversion (lib/Conversion). Reaching: the op stands in a test of
that conversion, or in what its RUN line's pipeline gives to the conversion.
"""
import glob
import os
import re
import subprocess
import sys

root, tile_opt = sys.argv[1:]
# Conversion -> folders of its sources; its tests are in test/Conversion/NAME.
CONVERSIONS = {
    "TileToCPU": ["TileToCPU"],
    "TileToHost": ["TileToHost"],
    "TileToNVVM": ["TileToGPU", "TileToNVVM"],
    "TileToROCDL": ["TileToGPU", "TileToROCDL"],
}


def read(*patterns):
    paths = [p for pattern in patterns for p in sorted(glob.glob(os.path.join(root, pattern)))]
    return "\n".join(open(p, encoding="utf-8").read() for p in paths)


def before_conversion(path):
    """The program that the conversion gets: the RUN line's pipeline up to it."""
    text = open(path, encoding="utf-8").read()
    lines = " ".join(re.findall(r"RUN: (.*?)\\?$", text, re.M))
    programs = ""
    for pipeline in re.findall(r'--pass-pipeline="builtin\.module\((.*?),\s*convert-tile-to-(?:nvvm|rocdl)\b', lines):
        for target in [None] + sorted(set(re.findall(r"s/\w+/(\w+)/ %s", lines))):
            source = text if target is None else re.sub(r"sm_\d+a?|gfx\w+", target, text)
            done = subprocess.run([tile_opt, "--split-input-file", f"--pass-pipeline=builtin.module({pipeline})"],
                                  input=source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            programs += done.stdout
    return programs


ops = {}  # class -> name
for table in sorted(glob.glob(os.path.join(root, "include/tilec/Dialect/Tile/IR/Tile*Ops.td"))):
    ops.update(re.findall(r'^def Tile_(\w+Op) : Tile_\w+<"(\w+)"', open(table, encoding="utf-8").read(), re.M))
assert len(ops) > 50, ops
missing = []
for conversion, folders in CONVERSIONS.items():
    source = read(*(f"lib/Conversion/{folder}/*.{kind}" for folder in folders for kind in ("cpp", "h")))
    handled = {name for cls, name in ops.items() if re.search(rf"(?<!LLVM::)\b{cls}\b", source)}
    tests = read(f"test/Conversion/{conversion}/*.mlir")
    for path in sorted(glob.glob(os.path.join(root, f"test/Conversion/{conversion}/*.mlir"))):
        tests += before_conversion(path)
    reached = set(re.findall(r"\btile\.(\w+)", tests))
    missing += [f"{conversion}: no test reaches tile.{name}" for name in sorted(handled - reached)]
print("\n".join(missing) or "every lowering is tested")
