"""Compares compile-time evaluation with Python's own, on expressions made at random from a fixed seed.

Usage: consteval.py SEMA-CHECK [COUNT] [SEED]
"""
import random
import subprocess
import sys
import tempfile

count = int(sys.argv[2]) if len(sys.argv) > 2 else 4000
rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 20)
BINARY = ["+", "-", "*", "/", "//", "%", ">>", "&", "|", "^"]
COMPARE = ["<", "<=", ">", ">=", "==", "!="]


def number():
    kind = rng.randrange(6)
    if kind == 0:
        return str(rng.choice([0, 1, 2, 3, 7, 10, 255, 2**31, 2**63, 2**64, 10**20, 2**200 + 1]))
    if kind == 1:
        return str(rng.choice([0.0, 0.5, 1.5, 3.0, 1e10, 1e-10, 2.5, 0.1, 1e300]))
    if kind == 2:
        return rng.choice(["True", "False"])
    return str(rng.randrange(0, 100))


def expression(depth):
    if depth == 0 or rng.random() < 0.15:
        return number()
    kind = rng.randrange(12)
    sub = lambda: expression(depth - 1)
    if kind < 4:
        return f"({sub()} {rng.choice(BINARY)} {sub()})"
    if kind == 4: # operands that keep the results small
        return f"({sub()} ** {rng.randrange(-2, 7)})" if rng.random() < 0.5 else f"({sub()} << {rng.randrange(0, 90)})"
    if kind == 5:
        return f"({sub()} {rng.choice(COMPARE)} {sub()} {rng.choice(COMPARE)} {sub()})"
    if kind == 6:
        return f"({rng.choice(['-', '+', '~', 'not '])}{sub()})"
    if kind == 7:
        return f"({sub()} {rng.choice(['and', 'or'])} {sub()})"
    if kind == 8:
        return f"({sub()} if {sub()} else {sub()})"
    if kind == 9:
        return f"{rng.choice(['min', 'max'])}({sub()}, {sub()})"
    if kind == 10:
        return f"[{sub()}, {sub()}, {sub()}][{rng.randrange(-3, 3)}]"
    return f"len([x for x in range({rng.randrange(0, 9)}) if x % {rng.randrange(1, 4)} == 0] + [{sub()}])"


def evaluate(text):
    """Python's value, or None where Python has none or a limit of the language is near."""
    try:
        value = eval(text, {"__builtins__": {"len": len, "min": min, "max": max, "range": range}})
    except (ArithmeticError, ValueError, TypeError, MemoryError):
        return None
    if isinstance(value, complex) or (isinstance(value, int) and value.bit_length() > 4000):
        return None
    return value if value == value and abs(value) != float("inf") else None


source, kept = "", []
while len(kept) < count:
    text = expression(3)
    value = evaluate(text)
    if value is None:
        continue
    spelled = repr(value) if value >= 0 else f"({value!r})"
    # Equal and of the same kind: 1 and 1.0 are told apart by their quotient.
    source += f"assert {text} == {spelled}\n"
    if not isinstance(value, float):
        source += f"assert ({text}) // 1 == {spelled}\n"
    kept.append(text)
with tempfile.NamedTemporaryFile("w", suffix=".tile") as file:
    file.write(source)
    file.flush()
    done = subprocess.run([sys.argv[1], "-ferror-limit=0", file.name], capture_output=True, text=True)
wrong = done.stderr.count(": error[")
print(done.stderr[:4000])
print(f"{len(kept)} expressions, {wrong} wrong")
sys.exit(bool(done.returncode))
