"""Compares tilec's syntax tree with Python's own, for files and for random expressions.

Usage: compare-with-python.py TILEC [--random COUNT SEED] FILE...

Prints Python's tree in the form of --emit-ast, without places, and compares line by line.
"""
import ast
import random
import re
import subprocess
import sys
import tempfile

BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**",
          ast.MatMult: "@", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
UNARY = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.In: "in",
           ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}


class Printer:
    def __init__(self):
        self.lines = []

    def put(self, depth, text):
        self.lines.append("  " * depth + text)

    def module(self, tree):
        self.put(0, "Module")
        self.body(1, tree.body, docstring=True)

    def body(self, depth, statements, role="", docstring=False):
        first = statements[0] if statements else None
        if docstring and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(
                first.value.value, str):
            self.node(depth, first.value, "docstring: ")
            statements = statements[1:]
        for statement in statements:
            self.node(depth, statement, role)

    def nodes(self, depth, nodes, role=""):
        for node in nodes:
            self.node(depth, node, role)

    def node(self, depth, node, role=""):
        if node is not None:
            getattr(self, type(node).__name__)(depth, node, role)

    # Expressions.
    def Name(self, d, n, role):
        self.put(d, f"{role}Name {n.id}")

    def Attribute(self, d, n, role):
        self.put(d, f"{role}Attribute .{n.attr}")
        self.node(d + 1, n.value)

    def Call(self, d, n, role):
        self.put(d, f"{role}Call")
        self.node(d + 1, n.func, "callee: ")
        self.nodes(d + 1, n.args)
        for keyword in n.keywords:
            self.node(d + 1, keyword.value, keyword.arg + "=")

    def Subscript(self, d, n, role):
        self.put(d, f"{role}Subscript")
        self.node(d + 1, n.value)
        # Python does not tell t[(1, 2)] from t[1, 2]: the files compared have the latter only.
        self.nodes(d + 1, n.slice.elts if isinstance(n.slice, ast.Tuple) else [n.slice])

    def Slice(self, d, n, role):
        self.put(d, f"{role}Slice")
        self.node(d + 1, n.lower, "lower: ")
        self.node(d + 1, n.upper, "upper: ")
        self.node(d + 1, n.step, "step: ")

    def Starred(self, d, n, role):
        self.put(d, f"{role}Starred")
        self.node(d + 1, n.value)

    def sequence(kind):
        def method(self, d, n, role):
            self.put(d, role + kind)
            self.nodes(d + 1, n.elts)
        return method

    Tuple, List, Set = sequence("Tuple"), sequence("List"), sequence("Set")

    def Dict(self, d, n, role):
        self.put(d, f"{role}Dict")
        for key, value in zip(n.keys, n.values):
            self.nodes(d + 1, [key, value])

    def ListComp(self, d, n, role):
        self.put(d, f"{role}ListComp")
        self.node(d + 1, n.elt)
        for clause in n.generators:
            self.node(d + 1, clause.target, "for: ")
            self.node(d + 1, clause.iter, "in: ")
            self.nodes(d + 1, clause.ifs, "if: ")

    def UnaryOp(self, d, n, role):
        self.put(d, f"{role}Unary {UNARY[type(n.op)]}")
        self.node(d + 1, n.operand)

    def BinOp(self, d, n, role):
        self.put(d, f"{role}Binary {BINARY[type(n.op)]}")
        self.nodes(d + 1, [n.left, n.right])

    def BoolOp(self, d, n, role):
        self.put(d, role + ("BoolOp and" if isinstance(n.op, ast.And) else "BoolOp or"))
        self.nodes(d + 1, n.values)

    def Compare(self, d, n, role):
        self.put(d, f"{role}Compare " + " ".join(COMPARE[type(op)] for op in n.ops))
        self.nodes(d + 1, [n.left] + n.comparators)

    def IfExp(self, d, n, role):
        self.put(d, f"{role}Conditional")
        self.node(d + 1, n.body, "then: ")
        self.node(d + 1, n.test, "if: ")
        self.node(d + 1, n.orelse, "else: ")

    def Constant(self, d, n, role):
        value = n.value
        if isinstance(value, bool):
            text = f"BoolLiteral {value}"
        elif value is None:
            text = "NoneLiteral"
        elif value is ...:
            text = "EllipsisLiteral"
        elif isinstance(value, int):
            text = f"IntLiteral {value}"
        elif isinstance(value, float):
            text = "FloatLiteral %.17g" % value
        else:
            text = f'StringLiteral "{escape(value)}"'
        self.put(d, role + text)

    # Statements.
    def Import(self, d, n, role):
        self.put(d, role + "Import" + "".join(alias(a) for a in n.names))

    def ImportFrom(self, d, n, role):
        self.put(d, f"{role}ImportFrom {'.' * n.level}{n.module or ''}:" + "".join(alias(a) for a in n.names))

    def FunctionDef(self, d, n, role):
        self.put(d, f"{role}FunctionDef {n.name}")
        self.nodes(d + 1, n.decorator_list, "@")
        args = n.args
        positional = args.posonlyargs + args.args
        defaults = [None] * (len(positional) - len(args.defaults)) + args.defaults
        for index, (arg, default) in enumerate(zip(positional, defaults)):
            self.param(d + 1, arg, default, " positional-only" if index < len(args.posonlyargs) else "")
        for arg, default in zip(args.kwonlyargs, args.kw_defaults):
            self.param(d + 1, arg, default, " keyword-only")
        self.node(d + 1, n.returns, "returns: ")
        self.body(d + 1, n.body, docstring=True)

    def param(self, d, arg, default, kind):
        self.put(d, f"Param {arg.arg}{kind}")
        self.node(d + 1, arg.annotation, "annotation: ")
        self.node(d + 1, default, "default: ")

    def With(self, d, n, role):
        self.put(d, f"{role}With")
        for item in n.items:
            self.node(d + 1, item.context_expr, "context: ")
            self.node(d + 1, item.optional_vars, "as: ")
        self.body(d + 1, n.body)

    def For(self, d, n, role):
        self.put(d, f"{role}For")
        self.node(d + 1, n.target, "target: ")
        self.node(d + 1, n.iter, "in: ")
        self.body(d + 1, n.body)

    def While(self, d, n, role):
        self.put(d, f"{role}While")
        self.node(d + 1, n.test, "condition: ")
        self.body(d + 1, n.body)

    def If(self, d, n, role):
        elif_ = role == "else: " and lines[n.lineno - 1][n.col_offset:].startswith("elif")
        self.put(d, f"{role}If{' elif' if elif_ else ''}")
        self.node(d + 1, n.test, "condition: ")
        self.body(d + 1, n.body, "then: ")
        self.body(d + 1, n.orelse, "else: ")

    def Assign(self, d, n, role):
        self.put(d, f"{role}Assign")
        self.nodes(d + 1, n.targets, "target: ")
        self.node(d + 1, n.value, "value: ")

    def AugAssign(self, d, n, role):
        self.put(d, f"{role}AugAssign {BINARY[type(n.op)]}=")
        self.nodes(d + 1, [n.target, n.value])

    def AnnAssign(self, d, n, role):
        self.put(d, f"{role}AnnAssign")
        self.node(d + 1, n.target, "target: ")
        self.node(d + 1, n.annotation, "annotation: ")
        self.node(d + 1, n.value, "value: ")

    def Return(self, d, n, role):
        self.put(d, f"{role}Return")
        self.node(d + 1, n.value)

    def Assert(self, d, n, role):
        self.put(d, f"{role}Assert")
        self.node(d + 1, n.test, "condition: ")
        self.node(d + 1, n.msg, "message: ")

    def Expr(self, d, n, role):
        self.put(d, f"{role}ExprStmt")
        self.node(d + 1, n.value)

    def word(kind):
        return lambda self, d, n, role: self.put(d, role + kind)

    Pass, Break, Continue = word("Pass"), word("Break"), word("Continue")


def alias(item):
    return f" {item.name}" + (f" as {item.asname}" if item.asname else "")


def escape(text):
    """As raw_ostream::write_escaped."""
    named = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", '"': '\\"'}
    return "".join(
        named.get(chr(b)) or (chr(b) if 0x20 <= b < 0x7F else f"\\{b:03o}") for b in text.encode())


def expression(rng, depth):
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(["a", "b", "c", "1", "2.5", "'s'", "True", "None", "0x1f", "1_0", "...", "()", "[]"])
    sub = lambda: expression(rng, depth - 1)
    group = lambda: f"({sub()})" if rng.random() < 0.5 else sub()
    base = lambda: rng.choice(["a", "b", f"({sub()})"])
    kind = rng.randrange(14)
    if kind <= 4:
        return f"{group()} {rng.choice(list(BINARY.values()) + ['**'])} {group()}"
    if kind == 5:
        return f"{rng.choice('-+~')}{group()}"
    if kind == 6:
        return f"{group()} {rng.choice(list(COMPARE.values()))} {group()}"
    if kind == 7:
        return f"{group()} {rng.choice(['and', 'or'])} {group()}"
    if kind == 8:
        return f"not {group()}"
    if kind == 9:
        return f"{group()} if {group()} else {group()}"
    if kind == 10:
        return f"{base()}({sub()}, *{group()}, k={sub()})"
    if kind == 11:
        return f"{base()}[{sub()}, {sub()}:{sub()}, :, ::{sub()}]"
    if kind == 12:
        return rng.choice([f"({sub()}, {sub()})", f"[{sub()}, {sub()}]", f"{{{sub()}: {sub()}}}", f"{base()}.x"])
    return f"[{sub()} for a, b in {group()} if {group()}]"


def random_source(count, seed):
    """Only what Python takes."""
    rng = random.Random(seed)
    result = []
    while len(result) < count:
        text = "x = " + expression(rng, rng.randrange(1, 6))
        try:
            ast.parse(text)
        except SyntaxError:
            # tilec must not take it either; the rejected ones go into a list of their own.
            rejected.append(text)
            continue
        result.append(text)
    return "\n".join(result) + "\n"


def run(path):
    done = subprocess.run([tilec, "--emit-ast=-", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def compare(path, source):
    global lines
    lines = source.split("\n")
    printer = Printer()
    printer.module(ast.parse(source))
    status, output, errors = run(path)
    if status:
        sys.exit(f"{path}: tilec says {errors}")
    ours = [re.sub(r" <\d+:\d+-\d+:\d+>$", "", line) for line in output.splitlines()]
    for number, (mine, theirs) in enumerate(zip(ours, printer.lines)):
        if mine != theirs:
            context = "\n".join(printer.lines[max(0, number - 5):number])
            sys.exit(f"{path}: line {number + 1} of the tree\n{context}\ntilec:  {mine}\nPython: {theirs}")
    if len(ours) != len(printer.lines):
        sys.exit(f"{path}: {len(ours)} lines instead of {len(printer.lines)}")
    return len(ours)


tilec, arguments, rejected, lines = sys.argv[1], sys.argv[2:], [], []
total = 0
with tempfile.TemporaryDirectory() as folder:
    if arguments and arguments[0] == "--random":
        source = random_source(int(arguments[1]), int(arguments[2]))
        arguments = arguments[3:]
        path = f"{folder}/random.tile"
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        total += compare(path, source)
        for text in rejected[:25]:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text + "\n")
            if run(path)[0] != 1:
                sys.exit(f"Python rejects this and tilec does not: {text}")
    for path in arguments:
        with open(path, encoding="utf-8") as file:
            total += compare(path, file.read())
print(total, "lines of tree agree")
