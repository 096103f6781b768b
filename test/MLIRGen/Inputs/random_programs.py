"""Random programs against their own meaning: .tile is Python's syntax, so Python runs the same text on numpy arrays.

usage: random_programs.py write FILE.tile SEED COUNT
       random_programs.py check FILE.tile LIBRARY.so HARNESS-FOLDER [ARCH]

On the CPU, or on ARCH as calls.py says.
"""
import ctypes as c
import itertools
import random
import sys

M, N = 12, 20
TILES = {"f": "alloc_fragment", "g": "alloc_fragment", "s": "alloc_shared"}


class Writer:
    def __init__(self, rng):
        self.rng = rng
        self.lines = []
        self.depth = 1
        self.names = 0

    def put(self, text):
        self.lines.append("    " * self.depth + text)

    def name(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    def value(self, reads, depth=0):
        """An int32 expression over `reads`, a list of texts."""
        r = self.rng
        kind = r.randrange(9)
        if depth > 2 or kind < 3:
            return r.choice(reads + ["cast(%d, int32)" % r.randrange(-9, 10)])
        a, b = self.value(reads, depth + 1), self.value(reads, depth + 1)
        if kind == 3:
            return f"({a} {r.choice(['//', '%'])} {r.choice([-7, -2, 3, 5])})"
        if kind == 4:
            return f"{r.choice(['min', 'max'])}({a}, {b})"
        if kind == 5:
            return f"({a} if {self.condition(reads, depth + 1)} else {b})"
        if kind == 6:
            return f"({a} {r.choice(['>>', '<<'])} {r.randrange(0, 5)})"
        return f"({a} {r.choice(['+', '-', '*', '&', '|', '^'])} {b})"

    def condition(self, reads, depth=1):
        r = self.rng
        text = f"{self.value(reads, depth + 1)} {r.choice(['<', '<=', '==', '!=', '>'])} {self.value(reads, depth + 1)}"
        if r.random() < 0.2:
            return f"({text} {r.choice(['and', 'or'])} {self.value(reads, 2)} > 0)"
        return f"({text})"

    def body(self, i, j, target, at, reads, depth):
        """Statements of one iteration; only `target[at]` is written."""
        r = self.rng
        reads = list(reads)
        for _ in range(r.randrange(1, 4)):
            kind = r.randrange(8)
            if kind < 2:
                var = self.name("v")
                self.put(f"{var} = {self.value(reads)}")
                reads.append(var)
            elif kind == 2 and depth < 2:
                self.put(f"if {self.condition(reads)}:")
                self.depth += 1
                self.body(i, j, target, at, reads, depth + 1)
                self.depth -= 1
            elif kind == 3 and depth < 2:
                k, total = self.name("k"), self.name("t")
                self.put(f"{total} = alloc_var(int32, 0)")
                self.put(f"for {k} in range({r.choice(['3', i, '0', 'm'])}):")
                self.depth += 1
                if r.random() < 0.4:
                    self.put(f"if {self.condition(reads + [f'cast({k}, int32)'])}:")
                    self.put("    " + r.choice(["continue", "break"]))
                self.put(f"{total} = {self.value(reads + [total, f'cast({k}, int32)', f's[{k}, {j}]'])}"
                         if target != "s" else f"{total} = {self.value(reads + [total])}")
                self.depth -= 1
                reads.append(total)
            elif kind == 4 and depth == 1:
                self.put(f"if {self.condition(reads)}:")
                self.put("    continue")
            else:
                self.put(f"{target}[{at}] = {self.value(reads)}")

    def nest(self):
        r = self.rng
        i, j = self.name("i"), self.name("j")
        target = r.choice(["f", "g", "s", "Y"])
        rows, cols = r.choice([(str(M), str(N)), (str(M), str(N // 2)), ("m", str(N)), (str(M), "n"), ("m", "n")])
        at = f"{i}, {j}"
        if cols == str(N // 2) and r.random() < 0.5:
            at = f"{i}, {j} + {N // 2}"
        self.put(f"for {i}, {j} in Parallel({rows}, {cols}):")
        self.depth += 1
        reads = [f"cast({i}, int32)", f"cast({j}, int32)", "p", f"h[{i}]", f"X[{i}, {j}]", f"X[{i} + 3, {j}]",
                 f"X[{j}, {i}]", f"X[{i} + m, {j} - 2]"]
        if target != "Y":
            reads.append(f"{target}[{at}]")
        for tile in TILES:
            if tile != target:
                reads += [f"{tile}[{i}, {j}]", f"{tile}[{i}, {N - 1} - {j}]", f"{tile}[({i} + 1) % {M}, {j}]"]
        self.body(i, j, target, at, reads, 1)
        if target in ("f", "g") and cols == str(N // 2) and r.random() < 0.5:
            other = f"{i}, {j} + {N // 2}" if at == f"{i}, {j}" else f"{i}, {j}"
            self.put(f"{target}[{other}] = {self.value([x for x in reads if not x.startswith(target)])}")
        self.depth -= 1

    def statement(self, depth):
        r = self.rng
        kind = r.randrange(12)
        uniform = ["p", "u", "X[1, 2]", "f[3, 4]", "h[5]"]
        if kind < 5:
            self.nest()
        elif kind == 5:
            self.put(r.choice(["copy(f, g)", "copy(g, s)", "copy(s, f)", "copy(X[2, 0], f)", "copy(f, Y[0, 0])",
                               f"copy(X[m, n - 4], s)", f"copy(f[2:6, 0:{N}], g[4:8, 0:{N}])",
                               f"copy(s[0:4, 2:8], f[8:12, 1:7])"]))
        elif kind == 6:
            self.put(r.choice(["reduce_sum(f, h, dim=1)", "reduce_max(s, h, dim=1, clear=False)",
                               "reduce_min(g, h, dim=1)", "reduce_abssum(f, h, dim=1, clear=False)"]))
        elif kind == 7:
            self.put(r.choice([f"f[2, 3] = {self.value(uniform)}", f"u = {self.value(uniform)}",
                               f"s[4, 5] = {self.value(uniform)}", "fill(g, p)"]))
        elif kind < 10 and depth < 2:
            self.put(f"if {self.condition(uniform)}:")
            self.block(depth + 1)
            if r.random() < 0.5:
                self.put("else:")
                self.block(depth + 1)
        elif depth < 2:
            q = self.name("q")
            self.put(f"for {q} in range({r.choice(['2', 'm', '4, 0, -2', '1, 6, 2'])}):")
            self.depth += 1
            self.put(f"u = u + cast({q}, int32)")
            if r.random() < 0.5:
                self.put(f"if {self.condition(uniform)}:")
                self.put("    " + r.choice(["continue", "break"]))
            self.depth -= 1
            self.block(depth + 1)

    def block(self, depth):
        self.depth += 1
        for _ in range(self.rng.randrange(1, 3)):
            before = len(self.lines)
            self.statement(depth)
            if len(self.lines) == before:
                self.put("u = u + p")
        self.depth -= 1

    def kernel(self, name):
        self.lines += ["", "", "@kernel", f"def {name}(X: Tensor((m, n), int32), Y: Tensor((m, n), int32), p: int32):"]
        self.put("with Kernel(1) as b:")
        self.depth += 1
        for tile, alloc in TILES.items():
            self.put(f"{tile} = {alloc}(({M}, {N}), int32)")
        self.put(f"h = alloc_fragment(({M},), int32)")
        self.put("u = alloc_var(int32, 1)")
        for text in ("copy(X[0, 0], f)", "fill(g, 2)", "copy(X[1, 1], s)", "fill(h, 3)"):
            self.put(text)
        for _ in range(self.rng.randrange(3, 8)):
            self.statement(0)
        for text in (f"for zi, zj in Parallel({M}, {N}):", "    Y[zi, zj] = f[zi, zj] ^ (g[zi, zj] + s[zi, zj] * 3) ^ h[zi] ^ u"):
            self.put(text)
        self.depth -= 1


def write(path, seed, count):
    writer = Writer(random.Random(seed))
    writer.lines.append('"""Random programs."""')
    for k in range(count):
        writer.kernel(f"k{k}")
    with open(path, "w") as out:
        out.write("\n".join(writer.lines) + "\n")


#===- Python's view ------------------------------------------------------------===//
def environment():
    import numpy as np

    i32 = np.int32

    def integer(v):
        return v.item() if isinstance(v, np.generic) else v

    class View:
        """A tensor or tile: reads outside give 0, writes outside are dropped."""

        def __init__(self, array):
            self.a = array

        def inside(self, at):
            return all(0 <= k < e for k, e in zip(at, self.a.shape))

        def __getitem__(self, at):
            at = at if isinstance(at, tuple) else (at,)
            if any(isinstance(k, slice) for k in at):
                return View(self.a[at])
            at = tuple(integer(k) for k in at)
            return self.a[at] if self.inside(at) else i32(0)

        def __setitem__(self, at, value):
            at = tuple(integer(k) for k in (at if isinstance(at, tuple) else (at,)))
            if self.inside(at):
                self.a[at] = i32(value)

    class Head:
        """X[r, c] as an operand of copy."""

        def __init__(self, view, at):
            self.view, self.at = view, at

    def copy(src, dst):
        shape = dst.a.shape if isinstance(src, Head) else src.a.shape
        values = np.zeros(shape, i32)
        for at in itertools.product(*map(range, shape)):
            values[at] = src.view[tuple(integer(o) + k for o, k in zip(src.at, at))] if isinstance(src, Head) else src.a[at]
        for at in itertools.product(*map(range, shape)):
            if isinstance(dst, Head):
                dst.view[tuple(integer(o) + k for o, k in zip(dst.at, at))] = values[at]
            else:
                dst[at] = values[at]

    def fill(dst, value):
        dst.a[...] = i32(value)

    def reduction(f, combine):
        def reduce(src, dst, dim, clear=True):
            with np.errstate(over="ignore"):
                total = f(src.a.astype(np.int64), dim).astype(i32)
                dst.a[...] = total if clear else combine(dst.a, total)

        return reduce

    class Kernel:
        def __init__(self, n):
            pass

        def __enter__(self):
            return 0

        def __exit__(self, *args):
            pass

    def alloc(shape, dtype):
        return View(np.zeros(shape, i32))

    def cast(v, t):
        return t(np.int64(v).astype(i32))

    return dict(
        kernel=lambda f: f, Tensor=lambda *a: None, int32=i32, m=None, n=None, Kernel=Kernel, alloc_fragment=alloc,
        alloc_shared=alloc, alloc_var=lambda t, v: t(v), copy=copy, fill=fill, cast=cast,
        min=lambda a, b: i32(min(a, b)), max=lambda a, b: i32(max(a, b)),
        Parallel=lambda *e: itertools.product(*(range(integer(x)) for x in e)),
        reduce_sum=reduction(lambda a, d: a.sum(d), np.add), reduce_max=reduction(lambda a, d: a.max(d), np.maximum),
        reduce_min=reduction(lambda a, d: a.min(d), np.minimum),
        reduce_abssum=reduction(lambda a, d: np.abs(a.astype(i32)).astype(np.int64).sum(d), np.add)), View, Head


def check(path, library, harness, arch="cpu"):
    import re

    import numpy as np

    sys.path.insert(0, harness)
    from calls import Kernels
    from rt import TileError

    np.seterr(all="ignore")
    text = open(path).read()
    # A head: an element as the operand of copy.
    text = re.sub(r"copy\(X\[([^,]+), ([^\]]+)\], ", r"copy(Head(X, (\1, \2)), ", text)
    text = text.replace("copy(f, Y[0, 0])", "copy(f, Head(Y, (0, 0)))")
    names, View, Head = environment()
    names["Head"] = Head
    exec(compile(text, path, "exec"), names)
    run = Kernels(library, arch)
    rng = np.random.default_rng(1)
    failures = 0
    for k in sorted((n for n in names if re.fullmatch(r"k\d+", n)), key=lambda n: int(n[1:])):
        for m, n in ((M, N), (7, 13), (M, 3)):
            x = rng.integers(-20, 20, (m, n)).astype(np.int32)
            got, want, p = np.zeros((m, n), np.int32), np.zeros((m, n), np.int32), int(rng.integers(-5, 6))
            try:
                run(k, x, got, c.c_int32(p))
                error = ""
            except TileError as e:
                error = str(e)
            names["m"], names["n"] = m, n
            names[k](View(x.copy()), View(want), np.int32(p))
            if error or (got != want).any():
                failures += 1
                print(f"{k} with {m} x {n}, p = {p}: {error}, {int((got != want).sum())} elements differ")
    print("all agree" if not failures else f"{failures} runs differ")
    return failures != 0


if sys.argv[1] == "write":
    write(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
else:
    sys.exit(check(*sys.argv[2:6]))
