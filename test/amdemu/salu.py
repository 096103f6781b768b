"""Scalar instructions: one value for each wave. Meanings as in AMD's ISA documents for MI200 and MI300, chapter SOP."""
import operator

import numpy as np

from floats import F32, I16, I32, I64, U32, U64, to_int
from operands import put_scalar, put_scalar64, scalar, scalar64
from registry import op, pattern

NONZERO = "nonzero"     # SCC = result is not zero


def _signed(a):
    return a.view(I32) if a.dtype == U32 else a.view(I64)


def _add(names, function, width=32, scc=None, narrow=False):
    """Registers `function` of one or two sources; it gives the result, or (result, SCC). `narrow`: the second source has 32 bits."""
    @op(names)
    def build(inst):
        fetch = scalar64 if width == 64 else scalar
        put = put_scalar64(inst.ops[0]) if width == 64 else put_scalar(inst.ops[0])
        sources = [fetch(inst.ops[1])] + [(scalar if narrow else fetch)(o) for o in inst.ops[2:]]

        def run(m):
            value = function(*[get(m) for get in sources])
            if isinstance(value, tuple):
                value, m.scc[m.W] = value
            put(m, value)
            if scc:
                m.scc[m.W] = value != 0
        return run


def _u64(a):
    return a.astype(U64)


def _shift_signed(a, b):
    return (_signed(a) >> (b & U32(31)).astype(I32)).view(U32)


def _bit_field(a, b):
    width = (b >> U32(16)) & U32(127)
    mask = np.where(width >= 32, U32(0xFFFFFFFF), (U32(1) << (width & U32(31))) - U32(1))
    return (a >> (b & U32(31))) & mask.astype(U32)


def _bit_field_signed(a, b):
    width = ((b >> U32(16)) & U32(127)).astype(I64)
    value = (_signed(a).astype(I64) >> (b & U32(31)).astype(I64)) & ((I64(1) << np.minimum(width, 32)) - 1)
    sign = I64(1) << np.maximum(width - 1, 0)
    return np.where(width == 0, 0, (value ^ sign) - sign).astype(I32).view(U32)


def _bit_field64(a, b):
    width = _u64((b >> U32(16)) & U32(127))
    mask = np.where(width >= 64, U64(0xFFFFFFFFFFFFFFFF), (U64(1) << np.minimum(width, U64(63))) - U64(1))
    return (a >> _u64(b & U32(63))) & mask


def _each(function):
    """A function of Python integers, for rare bit counting."""
    return lambda a: np.array([function(int(x)) & 0xFFFFFFFF for x in a], U32)


def _first_one(x):
    return (x & -x).bit_length() - 1


def _leading(bits):
    return lambda x: bits - x.bit_length() if x else -1


def _leading_signed(x):
    return _leading(32)(~x & 0xFFFFFFFF if x >> 31 else x)


_add("s_mov_b32", lambda a: a)
_add("s_mov_b64", lambda a: a, 64)
_add("s_add_u32", lambda a, b: (a + b, (_u64(a) + _u64(b)) >> U64(32) != 0))
_add("s_sub_u32", lambda a, b: (a - b, a < b))
_add("s_add_i32", lambda a, b: (a + b, ((a ^ ~b) & (a ^ (a + b))) >> U32(31) != 0))
_add("s_sub_i32", lambda a, b: (a - b, ((a ^ b) & (a ^ (a - b))) >> U32(31) != 0))
_add("s_mul_i32", lambda a, b: a * b)
_add("s_mul_hi_u32", lambda a, b: ((_u64(a) * _u64(b)) >> U64(32)).astype(U32))
_add("s_mul_hi_i32", lambda a, b: ((_signed(a).astype(I64) * _signed(b)) >> 32).astype(I32).view(U32))
for _name, _function in {"and": operator.and_, "or": operator.or_, "xor": operator.xor, "andn2": lambda a, b: a & ~b,
                         "orn2": lambda a, b: a | ~b, "nand": lambda a, b: ~(a & b), "nor": lambda a, b: ~(a | b),
                         "xnor": lambda a, b: ~(a ^ b)}.items():
    _add(f"s_{_name}_b32", _function, 32, NONZERO)
    _add(f"s_{_name}_b64", _function, 64, NONZERO)
_add("s_not_b32", operator.invert, 32, NONZERO)
_add("s_not_b64", operator.invert, 64, NONZERO)
_add("s_lshl_b32", lambda a, b: a << (b & U32(31)), 32, NONZERO)
_add("s_lshr_b32", lambda a, b: a >> (b & U32(31)), 32, NONZERO)
_add("s_ashr_i32", _shift_signed, 32, NONZERO)
_add("s_lshl_b64", lambda a, b: a << _u64(b & U32(63)), 64, NONZERO, narrow=True)
_add("s_lshr_b64", lambda a, b: a >> _u64(b & U32(63)), 64, NONZERO, narrow=True)
_add("s_ashr_i64", lambda a, b: (a.view(I64) >> (b & U32(63)).astype(I64)).view(U64), 64, NONZERO, narrow=True)
_add("s_add_nc_u64 s_add_u64", lambda a, b: a + b, 64)
_add("s_sub_nc_u64 s_sub_u64", lambda a, b: a - b, 64)
_add("s_mul_u64", lambda a, b: a * b, 64)
_add("s_min_u32", lambda a, b: (np.minimum(a, b), a < b))
_add("s_max_u32", lambda a, b: (np.maximum(a, b), a > b))
_add("s_min_i32", lambda a, b: (np.minimum(_signed(a), _signed(b)).view(U32), _signed(a) < _signed(b)))
_add("s_max_i32", lambda a, b: (np.maximum(_signed(a), _signed(b)).view(U32), _signed(a) > _signed(b)))
_add("s_abs_i32", lambda a: np.abs(_signed(a)).view(U32), 32, NONZERO)
_add("s_absdiff_i32", lambda a, b: np.abs(_signed(a).astype(I64) - _signed(b)).astype(U32), 32, NONZERO)
_add("s_sext_i32_i16", lambda a: a.astype(I16).astype(I32).view(U32))
_add("s_sext_i32_i8", lambda a: a.astype(np.int8).astype(I32).view(U32))
_add("s_bfe_u32", _bit_field, 32, NONZERO)
_add("s_bfe_i32", _bit_field_signed, 32, NONZERO)
_add("s_bfe_u64", _bit_field64, 64, NONZERO, narrow=True)
_add("s_bfm_b32", lambda a, b: ((U32(1) << (a & U32(31))) - U32(1)) << (b & U32(31)))
for _k in (1, 2, 3, 4):
    _add(f"s_lshl{_k}_add_u32", (lambda k: lambda a, b: ((a << U32(k)) + b, (_u64(a) << U64(k)) + b >> U64(32) != 0))(_k))
_add("s_pack_ll_b32_b16", lambda a, b: (a & U32(0xFFFF)) | (b << U32(16)))
_add("s_pack_lh_b32_b16", lambda a, b: (a & U32(0xFFFF)) | (b & U32(0xFFFF0000)))
_add("s_pack_hh_b32_b16", lambda a, b: (a >> U32(16)) | (b & U32(0xFFFF0000)))
_add("s_pack_hl_b32_b16", lambda a, b: (a >> U32(16)) | (b << U32(16)))
_add("s_bcnt1_i32_b32", _each(lambda x: bin(x).count("1")), 32, NONZERO)
_add("s_ff1_i32_b32", _each(_first_one))
_add("s_flbit_i32_b32", _each(_leading(32)))
_add("s_flbit_i32", _each(_leading_signed))
_add("s_brev_b32", _each(lambda x: int(f"{x:032b}"[::-1], 2)))
for _name, _function in {"mul": np.multiply, "add": np.add, "sub": np.subtract}.items():
    _add(f"s_{_name}_f32", (lambda f: lambda a, b: f(a.view(F32), b.view(F32)).view(U32))(_function))
_add("s_cvt_f32_u32", lambda a: a.astype(F32).view(U32))
_add("s_cvt_f32_i32", lambda a: _signed(a).astype(F32).view(U32))
_add("s_cvt_u32_f32", lambda a: to_int(a.view(F32), 0, 2**32 - 1).astype(U32))


@op("s_bcnt1_i32_b64 s_ff1_i32_b64 s_flbit_i32_b64")
def _count64(inst):
    get, put = scalar64(inst.ops[1]), put_scalar(inst.ops[0])
    count = {"s_bcnt1_i32_b64": lambda x: bin(x).count("1"), "s_ff1_i32_b64": _first_one, "s_flbit_i32_b64": _leading(64)}[inst.mnemonic]

    def run(m):
        value = _each(count)(get(m))
        put(m, value)
        if inst.mnemonic.startswith("s_bcnt"):
            m.scc[m.W] = value != 0
    return run


@op("s_addc_u32 s_subb_u32")
def _carry(inst):
    first, second, put = scalar(inst.ops[1]), scalar(inst.ops[2]), put_scalar(inst.ops[0])
    subtract = inst.mnemonic == "s_subb_u32"

    def run(m):
        a, b, c = _u64(first(m)), _u64(second(m)), m.scc[m.W].astype(U64)
        total = a - b - c if subtract else a + b + c
        put(m, (total & U64(0xFFFFFFFF)).astype(U32))
        m.scc[m.W] = (total >> U64(32)) != 0
    return run


def _short(o):
    return np.array([(o.value - 65536 if o.value > 32767 else o.value) & 0xFFFFFFFF], U32)


@op("s_movk_i32 s_cmovk_i32")
def _movk(inst):
    value, put, old = _short(inst.ops[1]), put_scalar(inst.ops[0]), scalar(inst.ops[0])
    if inst.mnemonic == "s_cmovk_i32":
        return lambda m: put(m, np.where(m.scc[m.W], value, old(m)))
    return lambda m: put(m, value)


@op("s_addk_i32 s_addk_co_i32 s_mulk_i32")
def _addk(inst):
    value, get, put = _short(inst.ops[1]), scalar(inst.ops[0]), put_scalar(inst.ops[0])
    multiply = "mul" in inst.mnemonic

    def run(m):
        a = get(m)
        if multiply:
            put(m, a * value)
            return
        total = a + value
        m.scc[m.W] = ((a ^ ~value) & (a ^ total)) >> U32(31) != 0
        put(m, total)
    return run


@op("s_cselect_b32 s_cselect_b64 s_cmov_b32 s_cmov_b64")
def _select(inst):
    wide = inst.mnemonic.endswith("64")
    fetch = scalar64 if wide else scalar
    put = (put_scalar64 if wide else put_scalar)(inst.ops[0])
    yes, no = fetch(inst.ops[1]), fetch(inst.ops[2] if len(inst.ops) > 2 else inst.ops[0])
    return lambda m: put(m, np.where(m.scc[m.W], yes(m), no(m)))


@op("s_bitset0_b32 s_bitset1_b32")
def _bitset(inst):
    old, at, put = scalar(inst.ops[0]), scalar(inst.ops[1]), put_scalar(inst.ops[0])
    if inst.mnemonic == "s_bitset1_b32":
        return lambda m: put(m, old(m) | (U32(1) << (at(m) & U32(31))))
    return lambda m: put(m, old(m) & ~(U32(1) << (at(m) & U32(31))))


_SAVEEXEC = {"and": operator.and_, "or": operator.or_, "xor": operator.xor, "andn2": lambda s, e: s & ~e, "andn1": lambda s, e: ~s & e,
             "and_not0": lambda s, e: ~s & e, "and_not1": lambda s, e: s & ~e, "orn2": lambda s, e: s | ~e,
             "orn1": lambda s, e: ~s | e, "or_not0": lambda s, e: ~s | e, "or_not1": lambda s, e: s | ~e,
             "nand": lambda s, e: ~(s & e), "nor": lambda s, e: ~(s | e), "xnor": lambda s, e: ~(s ^ e)}


@pattern(r"s_(\w+?)_(saveexec|wrexec)_b(32|64)")
def _saveexec(inst, found):
    function, wide = _SAVEEXEC[found[1]], found[3] == "64"
    fetch, store = (scalar64, put_scalar64) if wide else (scalar, put_scalar)
    get, put = fetch(inst.ops[1]), store(inst.ops[0])
    from decoder import parse_operand
    exec_operand = parse_operand("exec" if wide else "exec_lo")
    get_exec, put_exec = fetch(exec_operand), store(exec_operand)

    def run(m):
        old = get_exec(m).copy()
        value = function(get(m).copy(), old)
        put(m, value if found[2] == "wrexec" else old)
        put_exec(m, value)
        m.scc[m.W] = value != 0
    return run


COMPARE = {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
           "lg": np.not_equal}


@pattern(r"s_cmp(k?)_(lt|le|gt|ge|eq|ne|lg)_(i32|u32|u64|f32)")
def _compare(inst, found):
    compare, of = COMPARE[found[2]], {"i32": I32, "u32": U32, "f32": F32}.get(found[3])
    if of is None:
        first, second = scalar64(inst.ops[0]), scalar64(inst.ops[1])

        def run64(m):
            m.scc[m.W] = compare(first(m), second(m))
        return run64
    first, second = scalar(inst.ops[0]), scalar(inst.ops[1])
    if found[1] and found[3] == "i32":
        constant = _short(inst.ops[1])
        second = lambda m: constant    # noqa: E731

    def run(m):
        m.scc[m.W] = compare(first(m).view(of), second(m).view(of))
    return run


@op("s_bitcmp0_b32 s_bitcmp1_b32")
def _bitcmp(inst):
    first, second, wanted = scalar(inst.ops[0]), scalar(inst.ops[1]), int("cmp1" in inst.mnemonic)

    def run(m):
        m.scc[m.W] = ((first(m) >> (second(m) & U32(31))) & U32(1)) == wanted
    return run


@pattern(r"s_(buffer_)?load_dword(?:x(\d+))?")
def _load(inst, found):
    """Scalar loads: an address for each wave; offsets are bytes, the low two address bits do not count."""
    count, buffer = int(found[2] or 1), bool(found[1])
    target, base, offset, shift = inst.ops[0], scalar64(inst.ops[1]), inst.ops[2] if len(inst.ops) > 2 else None, inst.number("offset")
    if offset is not None and offset.kind == "lit":
        shift, offset = shift + offset.value, None
    get = scalar(offset) if offset is not None else None
    puts = [put_scalar(target, k) for k in range(count)]

    def run(m):
        start = base(m)
        if buffer:
            start = start & U64(0xFFFFFFFFFFFF)
        address = start.astype(I64) + shift + (get(m).astype(I64) if get else 0)
        address = np.broadcast_to(address, m.n)[:, None] & ~3
        for put, value in zip(puts, m.memory.load(address, 4 * count, np.ones(address.shape, bool), m, inst)):
            put(m, value[:, 0])
    return run


@op("s_memtime s_memrealtime s_getreg_b64")
def _time(inst):
    put = put_scalar64(inst.ops[0])
    return lambda m: put(m, np.array([m.count], U64))
