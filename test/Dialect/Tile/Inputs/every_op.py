"""Lists the ops of the tile dialect that no test mentions: reads the .td files, so a new op cannot be forgotten."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
tests = root / "test/Dialect/Tile"
ops, verified = [], set()
for td in sorted((root / "include/tilec/Dialect/Tile/IR").glob("Tile*Ops.td")):
    for record in re.split(r"\n(?=def )", td.read_text()):
        match = re.match(r'def Tile_\w+Op : Tile_\w+<"(\w+)"', record)
        if match:
            ops.append(match.group(1))
            if "let hasVerifier = 1" in record:
                verified.add(match.group(1))
if len(ops) < 50:
    sys.exit(f"found only {len(ops)} ops: has the form of the .td files changed?")

# Printed: the op stands in a CHECK line. Rejected: it stands on the line that an expected-error points at.
printed = set()
for name in ("core", "memory", "math", "async"):
    for line in (tests / f"{name}-ops.mlir").read_text().splitlines():
        if "CHECK" in line:
            printed.update(re.findall(r"tile\.(\w+)", line))
rejected = set()
for file in tests.glob("*-errors.mlir"):
    lines = file.read_text().splitlines()
    for at, line in enumerate(lines):
        if "expected-error" in line:
            rejected.update(re.findall(r"tile\.(\w+)", lines[at + 1]))

missing = [f"{op}: not printed in *-ops.mlir" for op in ops if op not in printed]
missing += [f"{op}: no error in *-errors.mlir" for op in ops if op in verified and op not in rejected]
print("\n".join(missing))
print(f"{len(missing)} ops without a test, {len(ops)} ops")
