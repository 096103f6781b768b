"""Checks with Python's own parser that the .tile files in the folders named are valid Python; those named *errors* aside."""
import ast
import os
import sys

checked = 0
for top in sys.argv[1:]:
    for folder, _, files in os.walk(top):
        for name in sorted(files):
            if name.endswith(".tile") and "errors" not in name:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    ast.parse(file.read(), path)
                checked += 1
print(checked, "files are valid Python")
sys.exit(checked == 0)
