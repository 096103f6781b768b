"""Branches, barriers, calls, and instructions that change nothing that is modelled (waits, caches, priorities)."""
import numpy as np

from floats import I64, U64
from memory import EmulatorError
from operands import EXEC, VCC, put_scalar64, scalar64
from registry import op, pattern


@op("s_nop s_waitcnt s_delay_alu s_clause s_waitcnt_vscnt s_waitcnt_vmcnt s_waitcnt_lgkmcnt s_waitcnt_depctr s_wait_alu s_sleep "
    "s_setprio s_inst_prefetch s_set_inst_prefetch_distance s_wait_loadcnt s_wait_storecnt s_wait_dscnt s_wait_kmcnt "
    "s_wait_loadcnt_dscnt s_wait_storecnt_dscnt s_wait_samplecnt s_wait_bvhcnt s_wait_expcnt s_wait_idle buffer_gl0_inv "
    "buffer_gl1_inv buffer_wbl2 buffer_inv buffer_invl2 buffer_wbinvl1 buffer_wbinvl1_vol global_inv global_wb global_wbinv "
    "s_barrier_signal s_icache_inv s_dcache_inv s_dcache_wb s_sendmsg s_code_end s_version s_setreg_imm32_b32 s_setreg_b32 "
    "s_inst_prefetch s_sethalt s_ttracedata s_setkill s_incperflevel s_decperflevel v_nop s_prefetch_inst s_round_mode "
    "s_denorm_mode sched_barrier s_barrier_init")
def _nothing(inst):
    if inst.mnemonic in ("s_setreg_imm32_b32", "s_setreg_b32", "s_denorm_mode", "s_round_mode"):
        return _set_mode(inst)
    return lambda m: None


def _set_mode(inst):
    """Changes of the float mode at run time: LLVM brackets float32 divisions with them where the kernel flushes."""
    if "HW_REG_MODE" in inst.text and "HW_REG_MODE, 4, 2" in inst.text and inst.mnemonic == "s_setreg_imm32_b32":
        value = int(inst.text.rsplit(",", 1)[1], 0)

        def run(m):
            m.flushes_f32 = value & 3 != 3
        return run
    if "HW_REG_MODE" not in inst.text and inst.mnemonic.startswith("s_setreg"):
        return lambda m: None

    def refuse(m):
        raise EmulatorError(f"not implemented: {inst}")
    return refuse


@op("s_endpgm s_endpgm_saved")
def _end(inst):
    return lambda m: m.end(inst.next)


@op("s_barrier s_barrier_wait")
def _barrier(inst):
    return lambda m: m.wait(inst.next)


@op("s_trap")
def _trap(inst):
    def run(m):
        raise EmulatorError(f"the kernel traps: {inst}")
    return run


def _target(inst):
    distance = inst.ops[0].value
    return inst.next + 4 * (distance - 65536 if distance > 32767 else distance)


@op("s_branch")
def _branch(inst):
    target = _target(inst)
    return lambda m: target


@pattern(r"s_cbranch_(scc0|scc1|vccz|vccnz|execz|execnz)")
def _conditional(inst, found):
    target, following = _target(inst), inst.next
    what = found[1]
    register = EXEC if what.startswith("exec") else VCC
    wanted = what in ("scc1", "vccnz", "execnz")

    def run(m):
        taken = m.scc[m.W] if register == VCC and what.startswith("scc") else m.get_mask(register).any(1)
        if not wanted:
            taken = ~taken
        if taken.all():
            return target
        if not taken.any():
            return following
        return np.where(taken, target, following)
    return run


@op("s_getpc_b64")
def _getpc(inst):
    put = put_scalar64(inst.ops[0])
    return lambda m: put(m, np.array([m.memory.code_base + inst.next], U64))


@op("s_setpc_b64 s_swappc_b64")
def _jump(inst):
    get = scalar64(inst.ops[-1])
    put = put_scalar64(inst.ops[0]) if inst.mnemonic == "s_swappc_b64" else None

    def run(m):
        target = get(m).astype(I64) - m.memory.code_base
        if put:
            put(m, np.array([m.memory.code_base + inst.next], U64))
        return target
    return run
