"""The table of implemented instructions.

An implementation is a builder: called once for each instruction of a program with the decoded `Inst`, it returns a function of
the machine that executes it. The function returns None (go on), a program counter (all waves), or an array of them.
"""
import re

from memory import EmulatorError

_EXACT, _PATTERNS = {}, []


def op(names):
    """Decorator: the builder of the space-separated mnemonics."""
    def register(build):
        for name in names.split():
            _EXACT[name] = build
        return build
    return register


def pattern(expression):
    """Decorator: the builder of all mnemonics that match; it is called with the Inst and the match."""
    def register(build):
        _PATTERNS.append((re.compile(expression + "$"), build))
        return build
    return register


def is_known(inst):
    """Whether the instruction has an implementation (its operands may still be refused)."""
    if inst.parts:
        return all(is_known(p) for p in inst.parts)
    return inst.mnemonic in _EXACT or any(p.match(inst.mnemonic) for p, _ in _PATTERNS)


def build(inst):
    """The function that executes `inst`; one that reports it if nobody knows how."""
    if inst.parts:
        return _dual(inst)
    if inst.mnemonic in _EXACT:
        return _EXACT[inst.mnemonic](inst)
    for expression, builder in _PATTERNS:
        found = expression.match(inst.mnemonic)
        if found:
            return builder(inst, found)
    return _unknown(inst)


def _unknown(inst):
    def run(m):
        raise EmulatorError(f"not implemented: {inst}")
    return run


def _dual(inst):
    """Both halves of a gfx11 v_dual instruction read their operands before either writes."""
    first, second = (build(p) for p in inst.parts)
    target = inst.parts[0].ops[0]

    def run(m):
        before = m.V[target.reg, m.W].copy()
        first(m)
        result = m.V[target.reg, m.W].copy()
        m.V[target.reg, m.W] = before
        second(m)
        kept = m.V[target.reg, m.W]
        m.V[target.reg, m.W] = result if inst.parts[1].ops[0].reg != target.reg else kept
    return run
