"""Shows that the waitcnt checker sees what it is for: takes the waits of kernels away, or weakens them, one at a time.

usage: waitcnt_mutations.py FILE.hsaco

Each wait is deleted, and each count in it raised by one. Prints what was not reported and
`W waits: D deletions reported, C counts: R raises reported`. The file itself must be without violations.
"""
import re
import sys

import codeobject
import decoder
import waitcnt


def reported(body, k, text, arch):
    changed = list(body)
    changed[k] = decoder.parse(body[k].pc, body[k].size, text)
    return bool(waitcnt.Checker(changed, arch).run())


def raised(text):
    """The wait with each of its counts raised by one in turn."""
    return [text[:m.start(1)] + str(int(m[1]) + 1) + text[m.end(1):] for m in re.finditer(r"(?:vmcnt|lgkmcnt)\((\d+)\)", text)]


def mutate(name, body, arch):
    """(waits, deletions reported, counts, raises reported) of one kernel."""
    waits = deleted = counts = weakened = 0
    for k, inst in enumerate(body):
        if inst.mnemonic != "s_waitcnt":
            continue
        waits += 1
        if reported(body, k, "s_nop 0", arch):
            deleted += 1
        else:
            print(f"{name}: not reported without {inst}")
        for text in raised(inst.text):
            counts += 1
            if reported(body, k, text, arch):
                weakened += 1
            else:
                print(f"{name}: not reported with {text} for {inst}")
    return waits, deleted, counts, weakened


def main():
    with open(sys.argv[1], "rb") as file:
        image = codeobject.load(file.read())
    insts, symbols = decoder.disassemble(sys.argv[1])
    before = waitcnt.check(insts, symbols, image.arch, image.kernels)
    if before:
        sys.exit("\n".join(before))
    total = [0, 0, 0, 0]
    for name, body in waitcnt.functions(insts, symbols):
        if name in image.kernels:
            total = [a + b for a, b in zip(total, mutate(name, body, image.arch))]
    print(f"{total[0]} waits: {total[1]} deletions reported, {total[2]} counts: {total[3]} raises reported")


if __name__ == "__main__":
    main()
