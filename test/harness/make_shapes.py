"""Writes the pairwise-covering set of matrix products: every pair of values of any two factors occurs in some line.

usage: make_shapes.py > ../shapes.txt
       make_shapes.py --largest 65 > ../shapes-small.txt      for emulators
"""
import argparse
import itertools

SIZES = [1, 7, 63, 64, 65, 128, 200, 1000]
FACTORS = [SIZES, SIZES, SIZES, ["float16", "bfloat16", "float32"], ["nn", "nt", "tn", "tt"]]


def covering(factors):
    """Greedy: each line takes, for each factor in turn, the value that covers most pairs that are left."""
    left = {(i, a, j, b) for i, j in itertools.combinations(range(len(factors)), 2) for a in factors[i] for b in factors[j]}
    lines = []
    while left:
        i, a, j, b = min(left, key=str)
        line = {i: a, j: b}
        for f in range(len(factors)):
            if f not in line:
                def gain(v):
                    return sum(((g, w, f, v) if g < f else (f, v, g, w)) in left for g, w in line.items())
                line[f] = max(factors[f], key=lambda v: (gain(v), str(v)))
        row = tuple(line[f] for f in range(len(factors)))
        lines.append(row)
        for p, q in itertools.combinations(range(len(factors)), 2):
            left.discard((p, row[p], q, row[q]))
    return lines


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--largest", type=int, default=max(SIZES))
    largest = p.parse_args().largest
    sizes = [n for n in SIZES if n <= largest]
    print("# M N K dtype transposes: every pair of values of any two columns occurs. Made by harness/make_shapes.py.")
    for row in covering([sizes] * 3 + FACTORS[3:]):
        print(*row)
    print("# Empty extents; K = 0 writes zeros.")
    for m, n, k in [(0, 64, 64), (64, 0, 64), (64, 64, 0), (65, 7, 0), (0, 0, 0)]:
        for dtype in FACTORS[3]:
            print(m, n, k, dtype, "nn")


if __name__ == "__main__":
    main()
