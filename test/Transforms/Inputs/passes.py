"""Flags of all passes in the two Passes.td against the RUN lines of tests. usage: passes.py ROOT"""
import os
import re
import sys

root, flags, used = sys.argv[1], [], ""
for table in ("include/tilec/Dialect/Tile/Transforms/Passes.td", "include/tilec/Conversion/Passes.td"):
    flags += re.findall(r'^def \w+ : Pass<"([\w-]+)"', open(os.path.join(root, table), encoding="utf-8").read(), re.M)
assert len(flags) > 15, flags
for base, _, files in os.walk(os.path.join(root, "test")):
    for name in files:
        if name.endswith((".mlir", ".test", ".tile", ".cfg.py", ".cfg")):
            used += "".join(re.findall(r"^.*(?:RUN:|pipeline).*$", open(os.path.join(base, name), encoding="utf-8").read(), re.M))
missing = [f for f in flags if not re.search(re.escape(f) + r"(?![\w-])", used)]
print("\n".join("no test runs " + f for f in missing) or "every pass is tested")
