"""Instructions out of LLVM's disassembly: `llvm-objdump -d` decodes, this module reads its text.

An instruction is a mnemonic without encoding suffix, operands and modifiers. Names of RDNA are mapped to those of CDNA where
both mean the same, so that one implementation serves all targets.
"""
import functools
import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field

_LINE = re.compile(r"^\t(.+?)\s*// ([0-9A-F]{12}):((?: [0-9A-F]{8})+)")
_SYMBOL = re.compile(r"^([0-9a-f]{16}) <(.+)>:$")
_REGISTER = re.compile(r"^(v|s|a|ttmp)(\d+)(\.[lh])?$")
_REGISTERS = re.compile(r"^(v|s|a|ttmp)\[(\d+):(\d+)\]$")
_NAMED = {"vcc": (106, 2), "vcc_lo": (106, 1), "vcc_hi": (107, 1), "exec": (126, 2), "exec_lo": (126, 1), "exec_hi": (127, 1),
          "m0": (124, 1), "flat_scratch": (102, 2), "flat_scratch_lo": (102, 1), "flat_scratch_hi": (103, 1)}
_MODIFIERS = ("offset\\d?|offen|idxen|glc|slc|dlc|sc0|sc1|nt|lds|gds|row_\\w+|quad_perm|wave_\\w+|bank_mask|bound_ctrl|bitop3|op_sel|"
              "op_sel_hi|neg|neg_lo|neg_hi|clamp|mul|div|cbsz|abid|blgp|dst_sel|src0_sel|src1_sel|dst_unused|th|scope|dpp8|fi|"
              "byte_sel|index_key|matrix_\\w+")
_MODIFIER = re.compile(rf"\s+(?=(?:{_MODIFIERS})\b(?::|\s|$))")

_MEMORY = "(global|flat|scratch|buffer)"
RENAMES = [(re.compile(pattern), new) for pattern, new in [
    (r"^(s_(?:buffer_)?load)_b32$", r"\1_dword"),
    (r"^(s_(?:buffer_)?load)_b(64|96|128|256|512)$", lambda m: f"{m[1]}_dwordx{int(m[2]) // 32}"),
    (rf"^{_MEMORY}_(load|store)_b32$", r"\1_\2_dword"),
    (rf"^{_MEMORY}_(load|store)_b(64|96|128)$", lambda m: f"{m[1]}_{m[2]}_dwordx{int(m[3]) // 32}"),
    (rf"^{_MEMORY}_load_(u|i)(8|16)$",
     lambda m: f"{m[1]}_load_{'s' if m[2] == 'i' else 'u'}{'byte' if m[3] == '8' else 'short'}"),
    (rf"^{_MEMORY}_store_b(8|16)$", lambda m: f"{m[1]}_store_{'byte' if m[2] == '8' else 'short'}"),
    (rf"^{_MEMORY}_load_d16_b16$", r"\1_load_short_d16"),
    (rf"^{_MEMORY}_load_d16_hi_b16$", r"\1_load_short_d16_hi"),
    (rf"^{_MEMORY}_store_d16_hi_b16$", r"\1_store_short_d16_hi"),
    (r"^ds_load_2addr_stride64_", "ds_read2st64_"), (r"^ds_store_2addr_stride64_", "ds_write2st64_"),
    (r"^ds_load_2addr_", "ds_read2_"), (r"^ds_store_2addr_", "ds_write2_"),
    (r"^ds_load_", "ds_read_"), (r"^ds_store_", "ds_write_"),
    (r"^v_(add|sub|subrev)_nc_(u32|i32)$", r"v_\1_u32"),
    (r"^v_(add|sub|subrev)_co_ci_u32$",
     lambda m: {"add": "v_addc_co_u32", "sub": "v_subb_co_u32", "subrev": "v_subbrev_co_u32"}[m[1]]),
    (r"_num_f(16|32|64)$", r"_f\1"), (r"^s_and_not1_", "s_andn2_"), (r"^s_or_not1_", "s_orn2_"),
    (r"^s_(add|sub)_co_i32$", r"s_\1_i32"), (r"^s_(add|sub)_co_u32$", r"s_\1_u32"),
    (r"^s_(add|sub)_co_ci_u32$", lambda m: "s_addc_u32" if m[1] == "add" else "s_subb_u32"),
    (r"^v_mad_co_u64_u32$", "v_mad_u64_u32"), (r"^v_mad_co_i64_i32$", "v_mad_i64_i32"), (r"^s_ctz_i32_b32$", "s_ff1_i32_b32"),
    (r"^s_clz_i32_u32$", "s_flbit_i32_b32"), (r"^v_clz_i32_u32$", "v_ffbh_u32"), (r"^v_ctz_i32_b32$", "v_ffbl_b32"),
    (r"^(global|flat|ds|buffer)_atomic_(add|sub|and|or|xor|inc|dec)_(u|b)32$", r"\1_atomic_\2"),
    (r"^(\w+_atomic)_(min|max)_(i|u)32$", lambda m: f"{m[1]}_{'s' if m[3] == 'i' else 'u'}{m[2]}"),
    (r"^v_cvt_pk_rtz_f16_f32$", "v_cvt_pkrtz_f16_f32"),
]]
_SUFFIXES = ("_e64_dpp", "_dpp", "_sdwa", "_e32", "_e64")


@dataclass
class Operand:
    """kind: v, a, s (register `n`, `count` dwords), lit (`value` int or float), scc, off, null, or the text itself."""
    kind: str
    text: str
    n: int = 0
    count: int = 1
    value: object = None
    neg: bool = False
    abs: bool = False
    sext: bool = False
    high: bool = False      # v1.h: the upper 16 bits

    @property
    def is_vector(self):
        return self.kind in ("v", "a")


@dataclass
class Inst:
    pc: int
    size: int
    text: str
    mnemonic: str = ""
    ops: list = field(default_factory=list)
    mods: dict = field(default_factory=dict)
    dpp: bool = False
    sdwa: bool = False
    parts: list = field(default_factory=list)   # the two halves of a v_dual instruction
    results: int = 1                            # leading operands that are results

    @property
    def next(self):
        return self.pc + self.size

    def number(self, name, default=0):
        """An integer modifier."""
        return int(str(self.mods.get(name, default)), 0)

    def bits(self, name, k, default=0):
        """Element k of a modifier such as op_sel:[0,1]."""
        value = self.mods.get(name)
        if not value:
            return default
        items = value.strip("[]").split(",")
        return int(items[k]) if k < len(items) else default

    def __str__(self):
        return f"{self.text} (pc {self.pc:#x})"


def parse_operand(text):
    o = Operand.__new__(Operand)
    o.__dict__.update(_operand(text.strip()).__dict__)
    return o


@functools.lru_cache(maxsize=None)
def _operand(t):
    o = Operand("other", t)
    if t.startswith("-") and not re.match(r"-[\d.]", t):
        o.neg, t = True, t[1:]
    if t.startswith("neg("):
        o.neg, t = True, t[4:-1]
    if t.startswith("sext("):
        o.sext, t = True, t[5:-1]
    if t.startswith("|"):
        o.abs, t = True, t.strip("|")
    if t.startswith("abs("):
        o.abs, t = True, t[4:-1]
    one, many = _REGISTER.match(t), _REGISTERS.match(t)
    if one or many:
        m = one or many
        o.kind, o.n = m[1], int(m[2])
        o.high = bool(one and one[3] == ".h")
        o.count = int(many[3]) - o.n + 1 if many else 1
        if o.kind == "ttmp":
            o.kind, o.n = "s", o.n + 108
    elif t in _NAMED:
        o.kind = "s"
        o.n, o.count = _NAMED[t]
    elif t in ("scc", "src_scc"):
        o.kind = "scc"
    elif t in ("off", "null", "src_shared_base", "src_private_base", "src_vccz", "src_execz"):
        o.kind = t
    else:
        _parse_literal(o, t)
    return o


def _parse_literal(o, t):
    if re.match(r"^-?\d+$", t):
        o.kind, o.value = "lit", int(t)
    elif re.match(r"^-?0x[0-9a-f]+$", t, re.I):
        o.kind, o.value = "lit", int(t, 16)
    elif re.match(r"^-?[\d.]+(e[+-]?\d+)?$", t):
        o.kind, o.value = "lit", float(t)


def split_operands(text):
    """The comma-separated parts of `text`; commas in brackets belong to a part."""
    out, depth, start = [], 0, 0
    for at, ch in enumerate(text):
        depth += (ch in "[(") - (ch in "])")
        if ch == "," and depth == 0:
            out.append(text[start:at].strip())
            start = at + 1
    out.append(text[start:].strip())
    return [part for part in out if part]


@functools.lru_cache(maxsize=None)
def _mnemonic(name):
    """The name without suffix and in CDNA's spelling; whether it has DPP or SDWA."""
    dpp = sdwa = False
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            name, dpp, sdwa = name[:-len(suffix)], "dpp" in suffix, suffix == "_sdwa"
            break
    for pattern, new in RENAMES:
        name = pattern.sub(new, name)
    return name, dpp, sdwa


def parse(pc, size, text):
    inst = Inst(pc, size, text)
    if " :: " in text:
        inst.mnemonic = "v_dual"
        inst.parts = [parse(pc, size, half.strip().replace("v_dual_", "v_")) for half in text.split(" :: ")]
        return inst
    name, _, rest = text.partition(" ")
    name, inst.dpp, inst.sdwa = _mnemonic(name)
    inst.mnemonic = name
    if name.startswith(("s_waitcnt", "s_sendmsg", "s_delay_alu", "s_setreg", "s_getreg", "s_wait_", "s_clause")):
        return inst      # their operands have a syntax of their own; whoever needs them reads the text
    for part in split_operands(rest):
        pieces = _MODIFIER.split(part)
        inst.ops.append(parse_operand(pieces[0]))
        for piece in pieces[1:]:
            for word in re.findall(r"\w+(?::(?:\[[^\]]*\]|swizzle\([^)]*\)|\S+))?", piece):
                key, _, value = word.partition(":")
                inst.mods[key] = value or True
    return inst


def tool(name):
    """Path of one of LLVM 22's tools."""
    objdump = shutil.which("llvm-objdump-22") or shutil.which("llvm-objdump")
    if not objdump:
        raise FileNotFoundError("llvm-objdump is not in PATH")
    return os.path.join(os.path.dirname(os.path.realpath(objdump)), name)


def disassemble(path):
    """(instructions in order, symbol -> pc) of a code object file.

    One file at a time: given two files for different chips, llvm-objdump decodes both for the first one's.
    """
    text = subprocess.run([tool("llvm-objdump"), "-d", path], capture_output=True, text=True, check=True).stdout
    return parse_listing(text)


def parse_listing(text):
    """The same for text that llvm-objdump -d printed."""
    insts, symbols = [], {}
    for line in text.splitlines():
        found = _LINE.match(line)
        if found:
            insts.append(parse(int(found[2], 16), 4 * len(found[3].split()), found[1].strip()))
            continue
        found = _SYMBOL.match(line)
        if found:
            symbols[found[2]] = int(found[1], 16)
    return insts, symbols
