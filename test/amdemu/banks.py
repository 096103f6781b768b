"""LDS bank conflicts: how many cycles accesses take against what they would take without any.

32 banks of 4 bytes. A wave's access is served in groups of lanes; a group takes as many cycles as its fullest bank has different dwords.
Groups of gfx90a and gfx942 as AMD describes them (Composable Kernel, "Understanding AMD GPU LDS and Bank Conflicts"): 8 lanes in order
for writes of 16 bytes, 8 lanes in the order of READ16 for reads; of 8 and 4 bytes 16 and 32 lanes in order. A model: it says which
layout is better, not how long anything takes.
"""
import collections

import numpy as np

BANKS = 32
READ16 = [lane + half for half in (0, 32) for first, second in ((0, 20), (4, 16), (8, 28), (12, 24))
          for lane in (*range(first, first + 4), *range(second, second + 4))]


class Counter:
    """Cycles of one or more dispatches; hand it to emulator.dispatch as `observer`."""

    def __init__(self):
        self.cycles, self.ideal = collections.Counter(), collections.Counter()     # by mnemonic

    def __call__(self, inst, offsets, size, mask, writes):
        """`offsets`: bytes within LDS [waves, lanes] of one access of `size` bytes of each lane."""
        lanes = 128 // max(size, 4)
        order = READ16 if size == 16 and not writes else range(64)
        for wave in range(offsets.shape[0]):
            for start in range(0, 64, lanes):
                group = [lane for lane in list(order)[start:start + lanes] if mask[wave, lane]]
                if not group:
                    continue
                dwords = np.unique((offsets[wave, group] >> 2)[:, None] + np.arange(max(1, size // 4)))
                self.cycles[inst.mnemonic] += int(np.bincount(dwords % BANKS).max())
                self.ideal[inst.mnemonic] += 1

    def lines(self):
        return [f"{name}: {self.cycles[name]} cycles, {self.ideal[name]} without conflicts" for name in sorted(self.cycles)]
