"""Prints sources that are large or deep in one way, for limits.test. Usage: limits.py NAME"""
import sys

KERNEL = "@kernel\ndef f(Y: Tensor((N,), float32)):\n    with Kernel(N) as bx:\n"
SOURCES = {
    # Types that flow against the order of the statements.
    "chain": KERNEL + "".join(f"        x{i} = 0\n" for i in range(300)) + "        for k in range(N):\n"
             + "".join(f"            x{i} = x{i + 1}\n" for i in range(299)) + "            x299 = Y[k]\n",
    "recursion": "@macro\ndef r(x):\n    y = r(x)\n    return y\n\n" + KERNEL + "        Y[bx] = r(1)\n",
    "tree": "@macro\ndef r(x, n: const):\n    if n > 0:\n        a = r(x, n - 1)\n        b = r(x, n - 1)\n        return a + b\n"
            "    return x\n\n" + KERNEL + "        Y[bx] = r(bx, 40)\n",
    "unroll": KERNEL + "".join("        " + "    " * i + f"for i{i} in unroll(100):\n" for i in range(4))
              + "        " + "    " * 4 + "pass\n",
    "sequence": 'A = "a" * 90000\nB = [A] * 90000\nC = B + B\n',
    "steps": "E = [[j for j in range(10000)] for i in range(10000)]\n",
    "blocks": "".join(f"@macro\ndef m{i}(x):\n" + "".join("    " * (d + 1) + "if x > 0:\n" for d in range(40)) + "    " * 41
                      + (f"m{i + 1}(x)\n" if i < 249 else "pass\n") for i in range(250)) + KERNEL + "        m0(bx)\n",
    "powers": KERNEL + "        x = Y[bx]\n        Y[bx] = ((((x ** 64) ** 64) ** 64) ** 64) ** 64\n",
    "branches": KERNEL + "        x = 0\n" + "".join(f"        if bx == {i}:\n            x = {i}\n" for i in range(5000))
                + "        Y[bx] = x\n",
    "assumptions": """@kernel
def f(X: Tensor((N,), float32)):
    for i in range(1001):
        assume(N % (i + 1) == 0)
    with Kernel(1):
        X[0] = 1.0
""",
    "tiles": KERNEL + "        t = [alloc_shared((8, 8), float16) for i in range(10000)]\n",
    "instances": "@instantiate(w=[i for i in range(100)])\n@kernel\ndef f(Y: Tensor((N,), float32), w: const = 0):\n"
                 "    with Kernel(N) as bx:\n        for i in unroll(20000):\n            Y[bx] = w\n",
    "bits": "A = 2 ** 4000\nB = A * A\nC = 3 ** (2 ** 100)\nD = 1 << 10 ** 30\n",
}
sys.stdout.write(SOURCES[sys.argv[1]])
