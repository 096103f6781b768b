"""Kernels with FROM to TO - 1 names in front of a loop with `break`, whose flags are two names more.

usage: many_names.py FROM TO > FILE.tile"""
import sys

for names in range(int(sys.argv[1]), int(sys.argv[2])):
    print(f"@kernel\ndef names_{names}(X: Tensor((M,), float32), Y: Tensor((M,), float32), n: int32):\n    with Kernel(1) as b:")
    for i in range(names):
        print(f"        v{i} = n + {i}")
    print("        for i in range(n):\n            if X[i] > 3.0:\n                break")
    for i in range(names):
        print(f"            Y[i + {i}] = cast(v{i}, float32)")
    print("\n")
