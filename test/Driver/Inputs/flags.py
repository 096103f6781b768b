"""Every spelling in Options.def must occur in a RUN line or in the page of a diagnostic. usage: flags.py ROOT"""
import os
import re
import sys

root = sys.argv[1]
rows = open(os.path.join(root, "include/tilec/Driver/Options.def"), encoding="utf-8").read()
spellings = []
for m in re.finditer(r'^(?:FLAG|VALUE|LIST)\(\w+, "([^"]+)"', rows, re.M):
    spellings += m[1].split(",")
spellings += ["--emit-" + m[1] for m in re.finditer(r'^EMIT\("([^"]+)"', rows, re.M)]
spellings += [m[1] for m in re.finditer(r'^ALIAS\("([^"]+)"', rows, re.M)]
assert len(spellings) > 40, spellings
used = ""
for base, _, files in os.walk(os.path.join(root, "test")):
    for name in files:
        if name.endswith((".test", ".tile", ".mlir", ".c")):
            used += "".join(re.findall(r"^.*RUN:.*$", open(os.path.join(base, name), encoding="utf-8", errors="replace").read(), re.M))
missing = [s for s in spellings if not re.search(r"(?<![\w-])" + re.escape(s.rstrip("=")) + r"(?![a-zA-Z-])", used)
           and not re.search(r"(?<![\w-])" + re.escape(s) + r"\w", used)]
print("\n".join("no test uses " + s for s in missing) or "every flag is tested")
