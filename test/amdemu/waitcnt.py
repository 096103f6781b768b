"""Proves on the text of `llvm-objdump -d` that AMDGPU code waits for what it loads.

usage: waitcnt.py FILE.hsaco...

Memory instructions run on after they are issued; s_waitcnt says until how many of them may still be under way. This module walks
the control flow of each function and follows, for each register that a load writes, how many later instructions of the same counter
have surely been issued since: a wait for at most N retires those with N or more behind them. Where paths meet, the smaller number
counts. Reported are
  - reads and overwrites of a register whose load may be under way,
  - LDS accesses and copies to LDS that may be under way at a barrier.

Retirement is in order within vector memory (loads, and stores where they share the counter) and within LDS; scalar loads and flat
accesses retire in any order, so only a wait for 0 helps (AMD's ISA documents, "Manually Inserted Wait States" and S_WAITCNT). Calls
count as waiting for everything, which LLVM's functions do at their start. Not looked at: visibility of global stores to other
workgroups, hazards that need s_nop.
"""
import re
import sys

import codeobject
import decoder

VECTOR, LOCAL, SCALAR, FLAT_VECTOR, FLAT_LOCAL, STORE = "vector memory", "LDS", "scalar memory", "flat", "flat (LDS)", "store"
ORDERED = {VECTOR, LOCAL, STORE}
LDS_READ, LDS_WRITE, LDS_COPY = "an LDS read", "an LDS write", "a copy to LDS"
FAR = 64       # more than any wait can name


class Counters:
    """Which class of instructions each counter of a target counts."""

    def __init__(self, arch):
        self.separate_stores = not arch.startswith("gfx9")
        self.merges_late = arch.startswith("gfx12")
        self.vmcnt = {VECTOR, FLAT_VECTOR} | (set() if self.separate_stores else {STORE})
        self.lgkmcnt = {LOCAL, SCALAR, FLAT_LOCAL}
        self.by_name = {"vmcnt": self.vmcnt, "lgkmcnt": self.lgkmcnt, "expcnt": set(), "vscnt": {STORE},
                        "loadcnt": {VECTOR, FLAT_VECTOR}, "storecnt": {STORE}, "dscnt": {LOCAL, FLAT_LOCAL}, "kmcnt": {SCALAR},
                        "samplecnt": set(), "bvhcnt": set()}

        # A count of all ones waits for nothing: the counter may hold more.
        self.most = {"lgkmcnt": 63 if self.separate_stores else 15, "expcnt": 7}

    def waits(self, inst):
        """(classes, allowed) of a wait instruction; empty for others."""
        return [(self.by_name[name], n) for name, n in self._counts(inst) if n < self.most.get(name, 63)]

    def _counts(self, inst):
        name, text = inst.mnemonic, inst.text
        if name == "s_waitcnt":
            return [(c, int(n)) for c, n in re.findall(r"(\w+cnt)\((\d+)\)", text)]
        if name == "s_wait_idle":
            return [(c, 0) for c in self.by_name]
        old = re.match(r"s_waitcnt_(vscnt|vmcnt|lgkmcnt) null, (\w+)", text)
        if old:
            return [(old[1], int(old[2], 0))]
        both = re.match(r"s_wait_(loadcnt|storecnt)_dscnt (\w+)", text)
        if both:
            return [(both[1], int(both[2], 0) >> 8 & 63), ("dscnt", int(both[2], 0) & 63)]
        one = re.match(r"s_wait_(\w+cnt) (\w+)", text)
        return [(one[1], int(one[2], 0))] if one else []


class Effect:
    """What an instruction means for the counters: classes it joins, registers it loads, LDS accesses, registers it touches."""

    def __init__(self, inst, counters):
        self.classes, self.loads, self.marks = (), (), ()
        name = inst.mnemonic
        operands = [o for part in (inst.parts or [inst]) for o in part.ops]
        self.touches = [r for o in operands for r in registers(o)] + implicit(name)
        memory = re.match(r"(global|flat|scratch|buffer)_(load|store|atomic)", name)
        if memory:
            self._vector_memory(inst, memory[1], memory[2], counters)
        elif name.startswith("ds_"):
            self._lds(inst)
        elif re.match(r"s_(buffer_)?load_|s_memtime|s_memrealtime", name):
            self.classes, self.loads = (SCALAR,), registers(inst.ops[0])
        # A load may follow another one of its class to the same register: they arrive in order. gfx12 merges
        # halves of registers where the first one has to be there.
        in_order = self.classes in ((VECTOR,), (LOCAL,)) and not (counters.merges_late and "d16" in name)
        self.overwrites = set(self.loads) if in_order else set()
        if self.overwrites:
            sources = [r for o in operands[1:] for r in registers(o)]
            self.overwrites -= set(sources)

    def _vector_memory(self, inst, space, what, counters):
        returns = what == "load" or what == "atomic" and (inst.mods.get("sc0") or inst.mods.get("glc")
                                                          or inst.mods.get("th") == "TH_ATOMIC_RETURN")
        to_lds = inst.mods.get("lds") or "_lds_" in inst.mnemonic
        if space == "flat":
            self.classes = (FLAT_VECTOR, FLAT_LOCAL)
            self.marks = (LDS_READ if what == "load" else LDS_WRITE,)
        else:
            self.classes = (VECTOR,) if returns else (STORE,)
        if to_lds:
            self.marks = (LDS_COPY,)
        elif returns:
            self.loads = registers(inst.ops[0])

    def _lds(self, inst):
        self.classes = (LOCAL,)
        name = inst.mnemonic
        if re.match(r"ds_(bpermute|permute|swizzle)", name):
            self.loads = registers(inst.ops[0])
        elif name.startswith("ds_read"):
            self.loads, self.marks = registers(inst.ops[0]), (LDS_READ,)
        else:
            self.marks = (LDS_WRITE,)
            if "_rtn" in name:
                self.loads = registers(inst.ops[0])


def registers(o):
    """The registers of an operand, as (kind, number)."""
    return [(o.kind, o.n + k) for k in range(o.count)] if o.kind in ("v", "a", "s") else []


def implicit(name):
    """Registers that are used without being named."""
    if "vccz" in name or "vccnz" in name or name.startswith("v_div_fmas"):
        return [("s", 106), ("s", 107)]
    return []


class Blocks:
    """Basic blocks of one function: first pc -> (instructions, following pcs)."""

    def __init__(self, insts):
        by_pc = {i.pc: k for k, i in enumerate(insts)}
        leaders = {insts[0].pc}
        for i in insts:
            if is_jump(i):
                leaders |= {t for t in self._targets(i) if t in by_pc} | {i.next}
        self.blocks, self.strays = {}, []
        start = 0
        for k, i in enumerate(insts):
            if k + 1 == len(insts) or insts[k + 1].pc in leaders:
                following = self._targets(i) if is_jump(i) else [i.next] if k + 1 < len(insts) else []
                self.strays += [i for t in following if t not in by_pc]
                self.blocks[insts[start].pc] = (insts[start:k + 1], [t for t in following if t in by_pc])
                start = k + 1

    @staticmethod
    def _targets(inst):
        name = inst.mnemonic
        if not name.startswith(("s_branch", "s_cbranch")):
            return []
        distance = inst.ops[0].value
        target = inst.next + 4 * (distance - 65536 if distance > 32767 else distance)
        return [target] if name == "s_branch" else [target, inst.next]


def is_jump(inst):
    return inst.mnemonic.startswith(("s_branch", "s_cbranch", "s_endpgm", "s_setpc"))


class Checker:
    """One function. The state maps (class, register or mark) to (how many of its class were issued since, pc of the load)."""

    def __init__(self, insts, arch):
        self.counters, self.cache, self.found = Counters(arch), {}, {}
        self.blocks = Blocks(insts)
        self.insts = {i.pc: i for i in insts}
        self.first = insts[0].pc

    def run(self):
        """Messages, in the order of the code."""
        states, work = {self.first: {}}, [self.first]
        while work:
            at = work.pop()
            insts, following = self.blocks.blocks[at]
            state = dict(states[at])
            for inst in insts:
                self._step(state, inst)
            for target in following:
                if target not in states:
                    states[target] = dict(state)
                    work.append(target)
                elif self._merge(states[target], state):
                    work.append(target)
        for inst in self.blocks.strays:
            self.found[inst.pc, "flow"] = f"leaves the function: {inst}"
        return [self.found[key] for key in sorted(self.found)]

    @staticmethod
    def _merge(into, other):
        """The worse of both states; whether anything changed."""
        changed = False
        for key, value in other.items():
            if key not in into or value[0] < into[key][0]:
                into[key], changed = value, True
        return changed

    def _effect(self, inst):
        if inst.pc not in self.cache:
            self.cache[inst.pc] = Effect(inst, self.counters), self.counters.waits(inst)
        return self.cache[inst.pc]

    def _step(self, state, inst):
        effect, waits = self._effect(inst)
        for classes, allowed in waits:
            for key in [k for k, v in state.items() if k[0] in classes and (v[0] >= allowed if k[0] in ORDERED else allowed == 0)]:
                del state[key]
        if inst.mnemonic in ("s_swappc_b64", "s_call_b64"):
            state.clear()
            return
        if state:
            self._look(state, inst, effect)
        if effect.classes:
            self._issue(state, inst, effect)

    def _look(self, state, inst, effect):
        if inst.mnemonic in ("s_barrier", "s_barrier_signal"):
            for (kind, what), (_, origin) in state.items():
                if isinstance(what, str):
                    self.found[inst.pc, what] = f"{what} may be under way at a barrier: {self.insts[origin]}; barrier at pc {inst.pc:#x}"
        for register in effect.touches:
            for kind in (VECTOR, LOCAL, SCALAR, FLAT_VECTOR, FLAT_LOCAL):
                entry = state.get((kind, register))
                if entry and not (register in effect.overwrites and kind == effect.classes[0]):
                    self.found[inst.pc, register] = (f"{register[0]}{register[1]} may not have arrived ({kind}): {inst}; "
                                                     f"loaded by {self.insts[entry[1]]}")

    def _issue(self, state, inst, effect):
        # On gfx9 stores and loads of vector memory share a counter and retire in one order.
        aged = set(effect.classes) & ORDERED
        if not self.counters.separate_stores and aged & {VECTOR, STORE}:
            aged |= {VECTOR, STORE}
        if aged:
            for key, (age, origin) in list(state.items()):
                if key[0] in aged:
                    state[key] = (min(age + 1, FAR), origin)
        for kind in effect.classes:
            for what in (*effect.loads, *effect.marks):
                if kind == FLAT_VECTOR and what in effect.marks:
                    continue
                state[kind, what] = (0, inst.pc)


def functions(insts, symbols):
    """(name, instructions) of each function of a listing."""
    starts = sorted((pc, name) for name, pc in symbols.items())
    for k, (start, name) in enumerate(starts):
        end = starts[k + 1][0] if k + 1 < len(starts) else float("inf")
        body = [i for i in insts if start <= i.pc < end]
        while body and body[-1].mnemonic in ("s_nop", "s_code_end"):     # filling behind the code
            body.pop()
        if body:
            yield name, body


def check(insts, symbols, arch, kernels=()):
    """Messages about all functions. A name in `kernels` must not jump through a register."""
    out = []
    for name, body in functions(insts, symbols):
        out += [f"{name}: {text}" for text in Checker(body, arch).run()]
        if name in kernels and any(i.mnemonic == "s_setpc_b64" for i in body):
            out.append(f"{name}: jumps through a register, which is not followed")
    return out


def check_file(path):
    with open(path, "rb") as file:
        image = codeobject.load(file.read())
    insts, symbols = decoder.disassemble(path)
    return check(insts, symbols, image.arch, image.kernels), sum(1 for i in insts if i.mnemonic.startswith("s_wait"))


def main():
    bad = 0
    for path in sys.argv[1:]:
        messages, waits = check_file(path)
        for text in messages:
            print(f"{path}: {text}")
        bad += len(messages)
        print(f"{path}: {len(messages)} violations, {waits} waits")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
