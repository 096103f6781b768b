"""Checks the type in which any two operands meet against a table written by hand.

Usage: promotion.py SEMA-CHECK. Rows and columns are the types below; an entry is the short name of the result, "." an error.
"""
import re
import subprocess
import sys
import tempfile

NAMES = {"b": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
         "u32": "uint32", "u64": "uint64", "f16": "float16", "bf": "bfloat16", "f32": "float32", "f64": "float64"}
SHORT = {"bf": "bf16"}
TABLE = """
      b   i8   i16  i32  i64  u8   u16  u32  u64  f16  bf   f32  f64
b     .   .    .    .    .    .    .    .    .    .    .    .    .
i8    .   i8   i16  i32  i64  .    .    .    .    f16  bf   f32  f64
i16   .   i16  i16  i32  i64  i16  .    .    .    f16  bf   f32  f64
i32   .   i32  i32  i32  i64  i32  i32  .    .    f16  bf   f32  f64
i64   .   i64  i64  i64  i64  i64  i64  i64  .    f16  bf   f32  f64
u8    .   .    i16  i32  i64  u8   u16  u32  u64  f16  bf   f32  f64
u16   .   .    .    i32  i64  u16  u16  u32  u64  f16  bf   f32  f64
u32   .   .    .    .    i64  u32  u32  u32  u64  f16  bf   f32  f64
u64   .   .    .    .    .    u64  u64  u64  u64  f16  bf   f32  f64
f16   .   f16  f16  f16  f16  f16  f16  f16  f16  f16  f32  f32  f64
bf    .   bf   bf   bf   bf   bf   bf   bf   bf   f32  bf   f32  f64
f32   .   f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f64
f64   .   f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64
"""
# What a literal beside a value of the type gives: an int literal, a float literal.
WEAK_FLOAT = {t: t if t in ("f16", "bf", "f32", "f64") else "f32" for t in NAMES}
OPERATORS = {"+": lambda t: t, "*": lambda t: t, "//": lambda t: t, "%": lambda t: t,
             "/": lambda t: t if t in ("f16", "bf", "f32", "f64") else "f32",
             "&": lambda t: None if t in ("f16", "bf", "f32", "f64") else t,
             "<<": lambda t: None if t in ("f16", "bf", "f32", "f64") else t}


def cases():
    lines = [line.split() for line in TABLE.strip().splitlines()]
    columns = lines[0]
    for row in lines[1:]:
        for column, entry in zip(columns, row[1:]):
            for op, result in OPERATORS.items():
                want = None if entry == "." else result(entry)
                if row[0] == column == "b":
                    want = "b" if op == "&" else None
                yield NAMES[row[0]], NAMES[column], f"a {op} b", want
    for t, name in NAMES.items():
        yield name, name, "a + 2", None if t == "b" else t
        yield name, name, "a * 0.5", None if t == "b" else WEAK_FLOAT[t]
        yield name, name, "1 if a == b else 0", "i64"
        yield name, name, "max(a, b)", None if t == "b" else t
        yield name, name, "exp(a)", None if t == "b" else WEAK_FLOAT[t]
        yield name, name, "a < b", None if t == "b" else "b"


def main():
    tested = bad = 0
    everything = list(cases())
    good = [c for c in everything if c[3]]
    source = "".join(f"@kernel\ndef k{i}(a: {a}, b: {b}, Y: Tensor((N,), float64)):\n"
                     f"    with Kernel(N) as bx:\n        r = {text}\n"
                     for i, (a, b, text, _) in enumerate(good))
    with tempfile.NamedTemporaryFile("w", suffix=".tile") as file:
        file.write(source)
        file.flush()
        done = subprocess.run([sys.argv[1], file.name], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
    types = dict(re.findall(r"kernel k(\d+)\(.*?\):\n.*?\n    r: (\w+) = ", done.stdout))
    for i, (a, b, text, want) in enumerate(good):
        want = {"b": "bool"}.get(want, SHORT.get(want, want))
        tested += 1
        if types.get(str(i)) != want:
            bad += 1
            print(f"{a}, {b}: {text} is {types.get(str(i))}, not {want}")
    wrong = [c for c in everything if not c[3]]
    source = "".join(f"@kernel\ndef k{i}(a: {a}, b: {b}, Y: Tensor((N,), float64)):\n"
                     f"    with Kernel(N) as bx:\n        r = {text}\n"
                     for i, (a, b, text, _) in enumerate(wrong))
    with tempfile.NamedTemporaryFile("w", suffix=".tile") as file:
        file.write(source)
        file.flush()
        done = subprocess.run([sys.argv[1], "-ferror-limit=0", file.name], capture_output=True, text=True)
    lines = {int(n) for n in re.findall(r":(\d+):\d+: error\[E020[23]\]", done.stderr)}
    for i, (a, b, text, _) in enumerate(wrong):
        tested += 1
        if 4 * i + 4 not in lines:
            bad += 1
            print(f"{a}, {b}: {text} gives no error")
    print(f"{tested} pairs, {bad} wrong")
    sys.exit(bool(bad))


main()
