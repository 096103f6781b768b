"""Counts the instructions of the loops that multiply in the PTX of samples/gemm, and reads what ptxas says about the kernels.

usage: wgmma_loops.py TILEC "BM BN BK DTYPE TRANS COUNT".. [--record]

Each schedule must have wgmma in its innermost loop, COUNT instructions there within 2 %, no spills and no advisory of ptxas
(serialised products are one). --record prints the counts instead.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
TYPES = {"f16": "float16", "bf16": "bfloat16"}


def innermost_loop(ptx):
    """Instructions of the shortest stretch from a label to a branch back to it that holds a product."""
    lines = [line.strip() for line in ptx.splitlines()]
    labels = {m[1]: i for i, line in enumerate(lines) if (m := re.match(r"(\$\w+):", line))}
    best = None
    for i, line in enumerate(lines):
        m = re.match(r"(?:@!?%p\d+ )?bra(?:\.uni)? \s*(\$\w+);", line)
        if not m or labels.get(m[1], i) >= i:
            continue
        body = [x for x in lines[labels[m[1]]:i + 1] if x.endswith(";") and not x.startswith((".", "//"))]
        if any(x.startswith("wgmma.mma_async") for x in body) and (best is None or len(body) < len(best)):
            best = body
    return best


def compile_schedule(tilec, bm, bn, bk, dtype, trans, folder):
    ptx, manifest = os.path.join(folder, "x.ptx"), os.path.join(folder, "x.json")
    subprocess.check_call([tilec, os.path.join(ROOT, "samples", "gemm", "gemm.tile"), "--arch=sm_90a", "-w", "-g0", f"-DBM={bm}",
                           f"-DBN={bn}", f"-DBK={bk}", f"-Ddt={TYPES[dtype]}", f"-Dtrans_a={trans[0] == 't'}",
                           f"-Dtrans_b={trans[1] == 't'}", f"--emit-ptx={ptx}", f"--emit-manifest={manifest}",
                           "--emit-obj=" + os.path.join(folder, "x.o")])
    with open(ptx, encoding="utf-8") as f, open(manifest, encoding="utf-8") as g:
        # The first kernel is the fast one.
        return f.read().split(".entry")[1], json.load(g)["kernels"][0]["launches"][0]["variants"][0]


def main():
    tilec, record = sys.argv[1], "--record" in sys.argv
    wrong = 0
    for text in (a for a in sys.argv[2:] if a != "--record"):
        bm, bn, bk, dtype, trans, count = text.split()
        with tempfile.TemporaryDirectory() as folder:
            ptx, variant = compile_schedule(tilec, bm, bn, bk, dtype, trans, folder)
        loop = innermost_loop(ptx)
        problems = [] if loop else ["no product in a loop"]
        if loop and not record and abs(len(loop) - int(count)) > 0.02 * int(count):
            problems.append(f"{len(loop)} instructions in the loop, {count} on record")
        if variant["spillStoreBytes"] or variant["spillLoadBytes"] or variant["stackBytes"]:
            problems.append("spills")
        problems += variant.get("advisories", [])
        if record:
            print(bm, bn, bk, dtype, trans, len(loop or []), *problems)
        elif problems:
            print(text + ":", "; ".join(problems))
            wrong += 1
    print(f"{wrong} schedules are not as recorded")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
