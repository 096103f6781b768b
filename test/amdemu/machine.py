"""The machine: registers of all waves of some workgroups, and the loop that runs them.

Registers are numpy arrays over [wave, lane] (vector) and [wave] (scalar): one numpy call executes an instruction for every wave
that stands at it. The waves with the lowest program counter run first, which brings diverged waves together again.
"""
import numpy as np

import compare  # noqa: F401  (importing an instruction family registers it)
import control  # noqa: F401
import lanes    # noqa: F401
import lds      # noqa: F401
import matrix   # noqa: F401
import packed   # noqa: F401
import salu     # noqa: F401
import valu     # noqa: F401
import vmem     # noqa: F401
import registry
from codeobject import user_sgprs
from floats import F16, F32, I64, U16, U32
from memory import EmulatorError, LocalMemory, ScratchMemory
from operands import EXEC, POISON

RUNNING, WAITING, ENDED = 0, 1, 2
# Where the 32-bit halves of addresses say that a flat address is LDS or scratch.
SHARED_APERTURE, PRIVATE_APERTURE = 0x10000, 0x20000
SCRATCH_DESCRIPTOR = 0x7E0000000000     # address in the buffer descriptor that gfx90a uses for scratch
FAR = 1 << 60


class Program:
    """The instructions of a code object, turned into Python functions when they are first reached."""

    def __init__(self, arch, insts):
        self.arch, self.insts, self.code = arch, {i.pc: i for i in insts}, {}
        operands = [o for i in insts for part in (i.parts or [i]) for o in part.ops]
        self.vgprs = max([o.n + o.count for o in operands if o.kind == "v"] + [4])
        self.registers = self.vgprs + max([o.n + o.count for o in operands if o.kind == "a"] + [0])
        for o in operands:
            o.reg = o.n + (self.vgprs if o.kind == "a" else 0)
        for i in insts:
            i.arch = arch
            for part in i.parts:
                part.arch = arch

    def at(self, pc):
        """(function, next pc) of the instruction at `pc`."""
        inst = self.insts.get(pc)
        if inst is None:
            raise EmulatorError(f"pc {pc:#x} is not code")
        self.code[pc] = entry = (registry.build(inst), inst.next)
        return entry


class Machine:
    """Waves of the workgroups first_group .. first_group + groups - 1 of a dispatch.

    V: vector registers as uint32 [register, wave, lane] (AGPRs behind the VGPRs); VF, VH the same bits as float32 and as pairs of
    float16. S: scalar registers [register, wave]. W: index of the waves that run now; ex, full: their EXEC as bools.
    """

    def __init__(self, program, kernel, memory, grid, block, dynamic_lds=0, first_group=0, groups=None, limit=50_000_000):
        self.program, self.kernel, self.memory, self.arch = program, kernel, memory, program.arch
        self.L, self.limit, self.count, self.first_group = kernel.wave, limit, 0, first_group
        threads = block[0] * block[1] * block[2]
        self.waves_per_group = -(-threads // self.L)
        self.groups = groups if groups is not None else grid[0] * grid[1] * grid[2]
        self.N = self.waves_per_group * self.groups
        self._registers(program)
        self.lds = LocalMemory(self.groups, kernel.lds + dynamic_lds)
        self.scratch = ScratchMemory(self.N, self.L, kernel.scratch)
        self.pc = np.full(self.N, kernel.entry, I64)
        self.state = np.zeros(self.N, np.int8)
        self.group = np.arange(self.N) // self.waves_per_group
        self.lane = np.arange(self.L)
        self.flushes_f32, self.flushes_f16 = kernel.flushes_f32, kernel.flushes_f16
        self._launch(grid, block, threads)

    def _registers(self, program):
        self.V = np.full((program.registers, self.N, self.L), POISON, U32)
        self.VF = self.V.view(F32)
        self.VH = self.V.view(F16).reshape(program.registers, self.N, self.L, 2)
        self.VW = self.V.view(U16).reshape(program.registers, self.N, self.L, 2)
        self.S = np.full((130, self.N), POISON, U32)
        self.scc = np.zeros(self.N, bool)

    def _launch(self, grid, block, threads):
        thread = (np.arange(self.N) % self.waves_per_group)[:, None] * self.L + self.lane[None]
        x, y, z = thread % block[0], thread // block[0] % block[1], thread // (block[0] * block[1])
        group = self.group + self.first_group
        gx, gy, gz = group % grid[0], group // grid[0] % grid[1], group // (grid[0] * grid[1])
        self.V[0] = x | (y << 10) | (z << 20)
        self.select(np.arange(self.N))
        self.set_mask(EXEC, thread < threads)
        at = self.memory.kernarg_address
        values = user_sgprs(self.kernel, at, self.memory.kernarg_bytes,
                            [SCRATCH_DESCRIPTOR & 0xFFFFFFFF, SCRATCH_DESCRIPTOR >> 32, 0xFFFFFFFF, 0])
        for n, value in enumerate(values):
            self.S[n] = value
        n = len(values)
        if self.arch.startswith("gfx12"):
            self.S[108 + 9], self.S[108 + 7] = gx, (gy & 0xFFFF) | (gz << 16)
            return
        for bit, value in ((7, gx), (8, gy), (9, gz), (10, 0), (0, 0)):   # ids, workgroup info, scratch wave offset
            if self.kernel.rsrc2 >> bit & 1:
                self.S[n] = value
                n += 1

    # ---- what instructions ask

    def get_mask(self, register):
        """A lane mask out of scalar registers: bool [wave, lane]."""
        words = self.S[register:register + self.L // 32, self.W].T
        return np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=1, bitorder="little").view(bool)

    def set_mask(self, register, lanes):
        words = np.packbits(lanes, axis=1, bitorder="little").view(U32)
        for n in range(self.L // 32):
            self.S[register + n, self.W] = words[:, n]
        if register == EXEC:
            self.load_exec()

    def load_exec(self):
        self.ex = self.get_mask(EXEC)
        self.full = bool(self.ex.all())

    def select(self, waves):
        """Makes `waves` (sorted indices) the ones that run; a slice where they are neighbours, so that numpy need not copy."""
        self.waves, self.n = waves, len(waves)
        first, last = int(waves[0]), int(waves[-1])
        self.W = slice(first, last + 1) if last - first + 1 == self.n else waves
        self.load_exec()

    def wave_numbers(self):
        return self.waves

    def group_of_wave(self):
        return self.group[self.W][:, None]

    def number_in_group(self):
        """1 + the number of each wave within its workgroup (LDS shadow)."""
        return (self.waves % self.waves_per_group + 1)[:, None]

    def place(self, wave):
        """Words for a message; `wave` counts within the selected ones."""
        group, number = divmod(int(self.waves[wave]), self.waves_per_group)
        return f"workgroup {self.first_group + group} wave {number}"

    # ---- the loop

    def run(self):
        with np.errstate(all="ignore"):
            while True:
                running = self.state == RUNNING
                if running.any():
                    self._run_lowest(running)
                elif (self.state == ENDED).all():
                    return
                else:
                    self._release()

    def _run_lowest(self, running):
        """Runs the waves at the lowest pc until they part, wait, end, or meet others."""
        pcs = np.where(running, self.pc, FAR)
        pc = int(pcs.min())
        chosen = pcs == pc
        self.select(np.flatnonzero(chosen))
        others = np.unique(pcs[~chosen & running])
        meet = int(others[0]) if len(others) else FAR
        code, at, alone = self.program.code, self.program.at, not len(others)
        n = self.n
        try:
            while pc != meet:
                run, following = code.get(pc) or at(pc)
                self.count += n
                target = run(self)
                if target is None:
                    pc = following
                elif isinstance(target, int) and (alone or target <= meet):
                    pc = target
                    if self.count > self.limit:
                        raise EmulatorError(f"more than {self.limit} instructions")
                else:
                    self.pc[self.W] = target
                    return
            self.pc[self.W] = pc
        except EmulatorError:
            raise
        except Exception as e:
            raise EmulatorError(f"{type(e).__name__}: {e}: {self.program.insts[pc]}") from e

    def wait(self, pc):
        self.state[self.W] = WAITING
        return np.full(self.n, pc, I64)

    def end(self, pc):
        self.state[self.W] = ENDED
        return np.full(self.n, pc, I64)

    def _release(self):
        """Every wave waits or has ended: lets those workgroups go on whose waves have all come to the barrier."""
        waiting = (self.state == WAITING).reshape(self.groups, self.waves_per_group)
        ended = (self.state == ENDED).reshape(self.groups, self.waves_per_group)
        complete = waiting.all(1)
        stuck = waiting.any(1) & ended.any(1)
        if stuck.any():
            group = int(np.flatnonzero(stuck)[0])
            raise EmulatorError(f"deadlock at a barrier: workgroup {self.first_group + group}: waves "
                                f"{np.flatnonzero(ended[group]).tolist()} ended, {np.flatnonzero(waiting[group]).tolist()} wait")
        self.lds.barrier(complete)
        self.state.reshape(self.groups, self.waves_per_group)[complete] = RUNNING

