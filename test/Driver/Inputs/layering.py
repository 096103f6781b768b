"""Checks #include lines against the arrows between libraries. usage: layering.py ROOT"""
import os
import re
import sys

# Folder -> what it may include of tilec/ and of mlir/.
ALLOWED = {
    "Support": ({"Support"}, False),
    "AST": ({"Support", "AST"}, False),
    "Parse": ({"Support", "AST", "Parse"}, False),
    "Sema": ({"Support", "AST", "Sema"}, False),
    "Dialect/Tile/IR": ({"Support", "Dialect/Tile/IR"}, True),
    "Dialect/Tile/Transforms": ({"Support", "Dialect/Tile/IR", "Dialect/Tile/Transforms"}, True),
    "MLIRGen": ({"Support", "Sema", "Dialect/Tile/IR", "MLIRGen"}, True),
    "Conversion": ({"Support", "Dialect/Tile/IR", "Dialect/Tile/Transforms", "Conversion"}, True),
    "Target": ({"Support", "Target"}, True),
    "Pipelines": ({"Support", "Dialect/Tile/IR", "Dialect/Tile/Transforms", "Conversion", "Target", "Pipelines"}, True),
    "Driver": (None, True),
}


def layer(path):
    return max((l for l in ALLOWED if path == l or path.startswith(l + "/")), key=len, default=None)


def main():
    root, wrong, seen = sys.argv[1], [], 0
    for base in ("include/tilec", "lib"):
        for folder, _, files in os.walk(os.path.join(root, base)):
            own = layer(os.path.relpath(folder, os.path.join(root, base)))
            for name in sorted(files):
                if own is None or not name.endswith((".h", ".cpp")):
                    continue
                seen += 1
                path = os.path.join(folder, name)
                allowed, mlir = ALLOWED[own]
                for n, line in enumerate(open(path, encoding="utf-8"), 1):
                    m = re.match(r'\s*#include\s+["<](tilec|mlir)/([^">]+)[">]', line)
                    if not m:
                        continue
                    if m[1] == "mlir" and not mlir:
                        wrong.append(f"{path}:{n}: {own} sees no MLIR")
                    if m[1] == "tilec" and allowed is not None and layer(os.path.dirname(m[2])) not in allowed:
                        wrong.append(f"{path}:{n}: {own} may not include tilec/{m[2]}")
    for w in wrong:
        print(w)
    if seen < 50:
        print(f"only {seen} files found under {root}")
    elif not wrong:
        print("layering holds")


main()
