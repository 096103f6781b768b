"""Reads AMD code objects as the loader and the hardware would, and says what stands in them.

usage: inspect_image.py FILE.hsaco...

For each kernel a line with threads, arguments, memory and instruction counts. Whatever contradicts itself is printed as `WRONG` and
makes the exit status 1: descriptor against metadata, arguments against their segment, alignment, registers against the chip's limits.
"""
import re
import sys

import codeobject
import decoder
import waitcnt

VGPRS = {"gfx90a": 512, "gfx942": 512, "gfx950": 512}      # of a wave of 64, AGPRs included
LDS_BYTES = 65536


def contradictions(kernel, arch):
    """What must hold between the parts of one kernel."""
    meta, out = kernel.meta, []

    def must(holds, text):
        if not holds:
            out.append(text)

    must(meta[".group_segment_fixed_size"] == kernel.lds, "LDS: descriptor and metadata differ")
    must(meta[".private_segment_fixed_size"] == kernel.scratch, "scratch: descriptor and metadata differ")
    must(kernel.lds <= LDS_BYTES, f"{kernel.lds} bytes of LDS")
    must(meta[".wavefront_size"] == 64, f"waves of {meta['.wavefront_size']} lanes")
    must(meta[".symbol"] == meta[".name"] + ".kd", "symbol of the descriptor")
    must(kernel.entry % 256 == 0, "entry is not aligned to 256 bytes")
    must(0 < meta[".max_flat_workgroup_size"] <= 1024 and meta[".max_flat_workgroup_size"] % 64 == 0, "threads of a workgroup")
    must(meta[".vgpr_count"] <= VGPRS[arch], f"{meta['.vgpr_count']} registers")
    granule = (kernel.rsrc1 & 63) * 8 + 8
    must(granule >= meta[".vgpr_count"], f"the descriptor grants {granule} registers, the kernel has {meta['.vgpr_count']}")
    must(kernel.rsrc1 >> 16 & 15 == 15, "subnormal numbers are flushed")
    end = 0
    for argument in meta.get(".args", []):
        must(argument[".offset"] >= end, f"argument at {argument['.offset']} overlaps the one before")
        must(argument[".offset"] % min(argument[".size"], 8) == 0, f"argument at {argument['.offset']} is not aligned")
        end = argument[".offset"] + argument[".size"]
    must(end <= meta[".kernarg_segment_size"], "arguments are larger than their segment")
    return out


def describe(kernel, body):
    meta = kernel.meta

    def count(pattern):
        return sum(1 for i in body if re.match(pattern, i.mnemonic))

    hidden = sum(1 for a in meta.get(".args", []) if a[".value_kind"].startswith("hidden_"))
    return (f"{kernel.name}: {meta['.max_flat_workgroup_size']} threads, {meta['.kernarg_segment_size']} bytes of arguments, {hidden} hidden, "
            f"{kernel.lds} bytes of static LDS, {kernel.scratch} bytes of scratch, {meta['.vgpr_count']} VGPRs, "
            f"{meta['.vgpr_spill_count']} spilled, {count('v_mfma')} mfma, {count('scratch_|buffer_(load|store)')} scratch instructions, "
            f"{count('s_barrier')} barriers")


def inspect(path):
    """Lines about a file, and whether all is well."""
    with open(path, "rb") as file:
        image = codeobject.load(file.read())
    insts, symbols = decoder.disassemble(path)
    bodies, lines, good = dict(waitcnt.functions(insts, symbols)), [f"target {image.note['amdhsa.target']}"], True
    for name, kernel in image.kernels.items():
        lines.append(describe(kernel, bodies[name]))
        for text in contradictions(kernel, image.arch):
            lines.append(f"WRONG {name}: {text}")
            good = False
    return lines, good


def main():
    good = True
    for path in sys.argv[1:]:
        lines, fine = inspect(path)
        print("\n".join(lines))
        good = good and fine
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
