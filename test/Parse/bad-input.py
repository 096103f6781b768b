"""Any bytes whatsoever give messages with a place, never a crash or a hang.

Usage: bad-input.py TILEC

Compiles files that are hard on a parser, each in at most 10 s and 2 GB, and checks the exit code and the first code given.
"""
import random
import re
import resource
import subprocess
import sys
import tempfile

DEEP = 100_000
MIB = 1 << 20
rng = random.Random(1)

# Name: (bytes or text, code expected or None for a file that parses).
CASES = {
    "empty": ("", None),
    "blank lines": ("\n\n  \n# only a comment\n", None),
    "no newline at the end": ("x = 1", None),
    "nul": ("x = 1\0\n", "E0002"),
    "nuls": ("\0" * 1000, "E0002"),
    "latin-1": (b"x = 'caf\xe9'\n", "E0001"),
    "utf-8 cut off": (b"x = '\xc3", "E0001"),
    "utf-8 surrogate": (b"x = '\xed\xa0\x80'\n", "E0001"),
    "utf-8 overlong": (b"x = '\xc0\xaf'\n", "E0001"),
    "utf-16": ("x = 1\n".encode("utf-16"), "E0001"),
    "random bytes": (rng.randbytes(100_000), "E0001"),
    "random ASCII": ("".join(chr(rng.randrange(9, 127)) for _ in range(50_000)), ""),
    "bom": (b"\xef\xbb\xbfx = 1\n", None),
    "bom and error": (b"\xef\xbb\xbfx = $\n", "E0015:1:5"),
    "cr lines": ("x = 1\ry = $\rz = 2\r", "E0015:2:5"),
    "crlf lines": ("x = 1\r\nif x:\r\n    y = $\r\n", "E0015:3:9"),
    "wide characters": ("名 = '漢字' $\n", "E0015:1:10"),
    "form feed": ("x = 1\n\f\ny = 2\n", None),
    "backslash at the end": ("x = 1 \\", "E0019"),
    "joined lines": ("x = 1 + \\\n    2\n", None),
    "too large": (" " * (4 * MIB + 1), "E0003"),
    "a line of 4 MiB": ("x = '" + "a" * (4 * MIB - 8) + "'\n", None),
    "a line of 4 MiB, not ASCII": ("x = '" + "é" * (2 * MIB - 8) + "'\n", None),
    "a line of 4 MiB of words": ("x = [" + "1," * (2 * MIB - 8) + "]\n", "E0033"),
    "a line of 4 MiB, error at its end": ("x = '" + "a" * (4 * MIB - 20) + "' $\n", "E0015"),
    "many statements": ("x = 1\n" * 100_000, None),
    "many errors": ("x = = 1\n" * 100_000, "E0020"),
    "many stray characters": ("$" * MIB, "E0015"),
    "200 brackets": ("x = " + "(" * 199 + "[1]" + ")" * 199 + "\n", None),
    "201 brackets": ("x = " + "(" * 200 + "[1]" + ")" * 200 + "\n", "E0008"),
    "parentheses": ("x = " + "(" * DEEP + "\n", "E0008"),
    "braces": ("x = " + "{" * DEEP + "\n", "E0008"),
    "brackets closed": ("x = " + ")" * DEEP + "\n", "E0018"),
    "conditionals in brackets": ("x = " + "(a if b else " * 199 + "c" + ")" * 199 + "\n", None),
    "calls in calls": ("x = " + "f(a, k=" * 199 + "c" + ")" * 199 + "\n", None),
    "never closed": ("x = (\n" + "y = 3\n" * 100_000, "E0016"),
    "string never closed": ('x = """' + "a\n" * 100_000, "E0011"),
    "nested 999": ("x = " + "+".join("a" * 999) + "\n", None),
    "sum": ("x = " + "+".join("a" * DEEP) + "\n", "E0010"),
    "conjunction": ("x = " + " and ".join("a" * DEEP) + "\n", None),
    "comparisons": ("x = " + " < ".join("a" * DEEP) + "\n", None),
    "not": ("x = " + "not " * DEEP + "1\n", "E0010"),
    "minus": ("x = " + "-" * DEEP + "1\n", "E0010"),
    "powers": ("x = " + "a**" * DEEP + "1\n", "E0010"),
    "conditionals": ("x = " + "a if b else " * 50_000 + "c\n", "E0010"),
    "lambdas": ("x = " + "lambda: " * DEEP + "1\n", "E0502"),
    "attributes": ("x = a" + ".b" * DEEP + "\n", "E0010"),
    "calls": ("x = a" + "()" * (DEEP // 2) + "\n", "E0010"),
    "targets": ("for " + "(" * 190 + "a" + ")" * 190 + " in b: pass\n", None),
    "strings": ("x = " + "'a' " * DEEP + "\n", None),
    "elif": ("if a: b\n" + "elif a: b\n" * 20_000, "E0033"),
    "100 blocks": ("".join(" " * i + "if a:\n" for i in range(100)) + " " * 100 + "b\n", None),
    "101 blocks": ("".join(" " * i + "if a:\n" for i in range(101)) + " " * 101 + "b\n", "E0009"),
    "steps in and out": ("a\n b\n" * 50_000, "E0006"),
    "decorators": ("@a\n" * 50_000, "E0020"),
    "parameters": ("def f(" + ", ".join(f"a{i}" for i in range(50_000)) + "): pass\n", None),
    "4096 bits": ("x = 0x" + "f" * 1024 + "\n", None),
    "4097 bits": ("x = 0x1" + "0" * 1024 + "\n", "E0014"),
    "1233 digits": ("x = " + "9" * 1233 + "\n", None),
    "1234 digits": ("x = " + "9" * 1234 + "\n", "E0014"),
    "a million digits": ("x = " + "9" * 1_000_000 + "\n", "E0014"),
    "a million binary digits": ("x = 0b" + "1" * 1_000_000 + "\n", "E0014"),
    "a long float": ("x = 1." + "9" * 1_000_000 + "\n", "E0013"),
    "a huge exponent": ("x = 1e99999999999999999999\n", None),
    "escapes": ("x = '" + "\\q" * 100_000 + "'\n", "W0002"),
}


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def check(name, source, expected, path):
    with open(path, "wb") as file:
        file.write(source.encode() if isinstance(source, str) else source)
    command = [tilec, "--emit-ast=-", path]
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=10,
                              preexec_fn=None if sanitized else limits)
    except subprocess.TimeoutExpired:
        return "takes more than 10 s"
    output = done.stderr.decode("utf-8", "replace")
    found = re.search(r"^(.*):(\d+):(\d+): (?:error|warning)\[(\w+)\]: ", output, re.M)
    status = 0 if expected is None or expected.startswith("W") else 1
    if done.returncode != status:
        return f"exit code {done.returncode} instead of {status}: {output[:300]}"
    if expected is None:
        return f"unexpected message: {output[:300]}" if output else None
    if not found or found.group(1) != path:
        return f"no message with a place in the file: {output[:300]}"
    if max(map(len, output.splitlines())) > 4000:
        return "a line of output has more than 4000 characters"
    code, _, place = expected.partition(":")
    if code and found.group(4) != code or place and place != f"{found.group(2)}:{found.group(3)}":
        return f"expected {expected}: {output[:300]}"
    return None


tilec = sys.argv[1]
# A sanitizer reserves terabytes of address space.
sanitized = b"__asan_init" in open(tilec, "rb").read()
problems = 0
with tempfile.TemporaryDirectory() as folder:
    for name, (source, expected) in CASES.items():
        problem = check(name, source, expected, folder + "/bad.tile")
        if problem:
            problems += 1
            print(f"{name}: {problem}")
print(f"{len(CASES)} files, {problems} problems")
sys.exit(bool(problems))
