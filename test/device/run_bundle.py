"""Tests and timings on this machine's NVIDIA GPU, out of a bundle that test/device/bundle.py packed.

usage: run [--steps correctness,delays,sanitizer,float32,speed,launch,tiles,mutants] [--json FILE] [--seeds N]

    correctness  every sample on every image against float64, on small, odd and large shapes
    delays       builds with pseudo-random pauses in front of everything that synchronises: right for every seed
    sanitizer    compute-sanitizer's memcheck and racecheck on small products
    float32      products as accurate as single precision: every element, errors beside cuBLAS's, times
    speed        times, with peers in the same process in random order: cuBLAS and cuDNN through torch, and torch's own softmax,
                 sum and GELU, whose results are checked at these sizes, too
    launch       host time of a call from C against the bare driver call with prepared arguments
    tiles        the product with tiles that the compiler chose, over many shapes, three times; beside cuBLAS stand Triton, tuned
                 for each shape (in the first of the three, where it is installed), and builds for single shapes, if packed
    mutants      builds with pauses and one wait left out: some seed must show it (and what shows without pauses)

Needs python3 with numpy and the driver. Without torch the peers' columns stay empty; without compute-sanitizer that step is
left out; both are said. Each test runs in a process of its own with a time limit. Ends with a table; writes everything to
results.json; exit status 1 when something is wrong, 3 without numpy or a driver.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUNDLE = os.path.dirname(HERE)
STEPS = ["correctness", "delays", "sanitizer", "float32", "speed", "launch", "tiles", "mutants"]  # what may leave a kernel hanging comes last
LARGE = ["4096 4096 4096 float16 nn", "8192 1024 8192 float16 nn", "4095 4097 4104 float16 nn", "2000 3000 1000 float16 nn"]
MUTANT = "1536 3328 768 float16 nn"  # more tiles than multiprocessors, more K steps than slots
DELAYED = ["128 256 64 float16 nn", "200 520 328 float16 nn", "65 129 33 float16 nn", "200 131 328 float16 nn", MUTANT, "300 264 200 bfloat16 tt",
           "129 200 65 float32 nn", "304 272 1040 tf32 nn", "1536 1024 768 float8_e4m3 nn", "300 264 200 int8 nt"]
TYPES = ["128 256 128", "200 520 328", "65 129 33", "1 3 5", "512 768 1024", "300 264 200", "2000 1000 3000"]
CHECKED = ["200 200 200 float16 nn", "65 63 7 float16 nn", "65 131 72 float16 nn", "128 264 128 float32 nn"]
CUBES = (512, 768, 1024, 1280, 1536, 2048, 2560, 3072, 4096, 5120, 6144, 8192, 16384)
TILES = [f"{n}x{n}x{n}" for n in CUBES] + ["8192x1024x8192", "4096x14336x4096", "4096x4096x14336", "8192x8192x512", "2000x3000x1000"]
TILES += [f"{m}x8192x8192" for m in (256, 128, 64, 32, 16, 1)]
ODD = "4095x4097x4104"  # no row starts where TMA could; not among the means
SPEED = ["4096x4096x4096", "8192x1024x8192", "2000x3000x1000", "2048x2048x2048", "8192x8192x8192"]
FLOAT32 = ["256 512 128", "1000 776 328", "129 200 65", "1 1 1", "65 257 4", "1024 1024 1024"]
# Scripts that take times: the peer, and what they count.
BENCHES = {"gemm_bench.py": ("cublas", "TFLOP/s"), "samples_bench.py": ("cublas", "TFLOP/s"), "epilogue_bench.py": ("torch", "TFLOP/s"),
           "attention_bench.py": ("cudnn", "TFLOP/s"), "memory_bench.py": ("torch", "GB/s")}
STOPPED = "no end after"
MEMORY = [f"{sample}_{dtype}" for sample in ("elementwise", "softmax") for dtype in ("f16", "bf16", "f32")]
SHORT = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float8_e4m3": "e4m3", "int8": "i8", "tf32": "tf32"}


class Run:
    """The results so far, and how a test is run."""

    def __init__(self, contents):
        self.contents, self.rows, self.notes, self.scratch = contents, [], [], tempfile.mkdtemp()

    def library(self, name):
        return os.path.join(BUNDLE, "lib", name + ".so")

    def script(self, name, *args, limit=300, tool=()):
        """Runs harness/NAME; (ok, last line, what it wrote with --json, seconds)."""
        file = os.path.join(self.scratch, "one.json")
        command = [*tool, sys.executable, os.path.join(HERE, name), *map(str, args)]
        if name in ("delays.py", "precision.py", *BENCHES):
            command += ["--json", file]
        start = time.monotonic()
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit)
            output, ok = done.stdout, done.returncode == 0
        except subprocess.TimeoutExpired as e:
            output, ok = (e.stdout or b"").decode("utf-8", "replace") + f"\n{STOPPED} {limit} s", False
        data = None
        if os.path.exists(file):
            with open(file, encoding="utf-8") as f:
                data = json.load(f)
            os.remove(file)
        lines = output.strip().splitlines() or [""]
        return ok, lines, data, time.monotonic() - start

    def add(self, step, what, ok, text, seconds, data=None):
        self.rows.append({"step": step, "what": what, "ok": ok, "text": text, "seconds": round(seconds, 1), "data": data})
        print(f"{step:12s} {what:44s} {'ok' if ok else 'FAILED':7s} {text}", flush=True)

    def has(self, *kernels):
        packed = self.contents["gemm"] + self.contents["samples"]
        return all(k in packed for k in kernels)


def kernel_of(shape):
    return f"gemm_{SHORT[shape.split()[3]]}_{shape.split()[4]}"


def correctness(run, o):
    for image in run.contents["images"]:
        common = ["--device", "cuda", "--image", image]

        def check(what, script, *args):
            ok, lines, _, seconds = run.script(script, *args, *common)
            failed = [line for line in lines if line.startswith("FAILED")] or [line for line in lines if "Error" in line]
            run.add("correctness", f"{what} {image}", ok, lines[-1] if ok else "; ".join(failed[:3] + lines[-1:]), seconds)
        if run.contents["gemm"]:
            kernels = ",".join(run.contents["gemm"])
            check("gemm, pairwise set", "gemm.py", run.library("gemm"), "--shapes", os.path.join(BUNDLE, "shapes.txt"),
                  "--kernels", kernels)
        if image == "sm_90a" and run.contents["auto"]:
            check("gemm, chosen tiles", "gemm.py", run.library("auto"), "--shapes", os.path.join(BUNDLE, "shapes.txt"),
                  "--kernels", ",".join(run.contents["auto"]))
        if run.contents["types"]:
            shapes = [f"{size} {dtype} {trans}" for dtype in ("float8_e4m3", "float8_e5m2", "int8", "uint8", "tf32")
                      for trans in ("nn", "nt", "tn", "tt") for size in TYPES]
            check("gemm, other types", "gemm.py", run.library("types"), "--kernels", ",".join(run.contents["types"]),
                  *[a for s in shapes for a in ("--shape", s)])
        if run.has("gemm_f16_nn"):
            check("gemm, large", "gemm.py", run.library("gemm"), *[a for s in LARGE for a in ("--shape", s)])
        for sample in ("elementwise", "softmax", "attention", "batched", "int4", "epilogue"):
            if sample in run.contents["whole"]:
                check(sample, "kernels.py", run.library("samples"), sample)
        if run.has("sgemm"):
            check("sgemm", "gemm.py", run.library("samples"), "--name", "sgemm_sgemm", "--shape", "1024 1024 1024 float32 nn")
        for name in run.contents["language"]:
            library, source = run.library(name), os.path.join(BUNDLE, name + ".tile")
            script, args = {"semantics": ("semantics.py", [library]), "nothing": ("nothing.py", [source, library]),
                            "random": ("random_programs.py", ["check", source, library]),
                            "wide-tiles": ("wide_tiles.py", [library])}[name]
            ok, lines, _, seconds = run.script(script, *args, HERE, image)
            run.add("correctness", f"language: {name} {image}", ok, f"{len(lines)} tests" if ok else lines[-1], seconds)


def delay_cases(run):
    args = [a for s in DELAYED if kernel_of(s) in run.contents["delayed"] for a in ("--gemm", s)]
    if sum(k.startswith("attention_f16") for k in run.contents["delayed"]) == 4:
        args += ["--sample", "attention float16"]
    if "softmax_f32" in run.contents["delayed"]:
        args += ["--sample", "softmax float32"]
    return args


def delays(run, o):
    cases = delay_cases(run)
    for image in run.contents["images"] if cases else ():
        ok, lines, data, seconds = run.script("delays.py", run.library("delayed"), "--image", image, "--seeds", o.seeds, *cases)
        for row in data or ():
            run.add("delays", f"{row['case']} {image}", not row["wrong"],
                    f"{row['seeds'] - len(row['wrong'])} of {row['seeds']} seeds right {row['first'] or ''}", seconds, row)
        if not data:
            run.add("delays", image, ok, "; ".join(lines[-3:]), seconds)


def mutants(run, o):
    for name, what in run.contents["mutants"].items():
        rows = {}
        for kind in ("delayed", "plain"):
            ok, lines, data, seconds = run.script("delays.py", run.library(f"mutant-{name}-{kind}"), "--seeds", o.seeds,
                                                  "--gemm", MUTANT, "--wrong-is-right", limit=60)
            # A process that had to be stopped is a hang too; one that broke off by itself shows nothing.
            stopped = [0] if lines[-1].startswith(STOPPED) else []
            rows[kind] = data[0] if data else {"wrong": stopped, "seeds": len(stopped), "first": lines[-1]}
        text = "; ".join(f"{kind}: {len(r['wrong'])} of {r['seeds']} seeds wrong ({r['first'] or 'none'})"
                         for kind, r in rows.items())
        run.add("mutants", name, bool(rows["delayed"]["wrong"]), text, seconds, {"what": what, **rows})


def sanitizer(run, o):
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.path.exists(tool):
        run.notes.append("no compute-sanitizer on this machine: memcheck and racecheck were not run")
        return
    shapes = [s for s in CHECKED if kernel_of(s) in run.contents["gemm"]]
    for image in run.contents["images"] if shapes else ():
        for check in ("memcheck", "racecheck"):
            ok, lines, _, seconds = run.script("gemm.py", run.library("gemm"), *[a for s in shapes for a in ("--shape", s)],
                                               "--device", "cuda", "--image", image, limit=120,
                                               tool=(tool, "--tool", check, "--error-exitcode", "9"))
            text = next((line.strip("= ") for line in lines if "SUMMARY" in line), lines[-1])
            run.add("sanitizer", f"{check} {image}, {len(shapes)} products", ok, text, seconds, None if ok else lines[-40:])


def speed(run, o):
    def bench(what, script, library, *args):
        ok, lines, data, seconds = run.script(script, run.library(library), *args)
        for row in data["rows"] if data else ():
            peer, unit = BENCHES[script]
            key = unit.replace("/", "").lower()
            theirs = f"{peer} {row[f'{peer}_{key}']:7.1f}, ratio {row['ratio']:.3f}" if row["ratio"] else f"{peer} -"
            rival = f", rival's time / ours {row['rival_ratio']:.4f}" if row.get("rival_ratio") else ""
            rival += f", time / that of the product alone {row['over_plain']:.3f}" if row.get("over_plain") else ""
            run.add("speed", f"{what} {row['shape']}{' causal' if row.get('causal') else ''}", ok,
                    f"{row[f'tilec_{key}']:7.1f} {unit}, {theirs}{rival}", seconds, row)
        if not data:
            run.add("speed", what, False, "; ".join(lines[-3:]), seconds)
        elif data["missing"] and data["missing"] not in run.notes:
            run.notes.append(data["missing"])
        return data["rows"] if data else []

    def thrice(image, first):
        rows = [bench(f"gemm f16 {image}", "gemm_bench.py", "gemm", "--image", image, "--shapes", shapes)
                for shapes in (",".join(first), first[0], first[0])]
        ratios = [r[0]["ratio"] for r in rows if r and r[0]["ratio"]]
        if len(ratios) == 3:
            run.notes.append(f"f16 {first[0]} {image}: ratios {', '.join(f'{r:.3f}' for r in ratios)}, "
                             f"median {statistics.median(ratios):.3f}")
    if run.has("gemm_f16_nn"):
        thrice("sm_90a", SPEED)
        thrice("compute_80", SPEED[:1])
    if run.has("gemm_bf16_nt"):
        bench("gemm bf16 nt sm_90a", "gemm_bench.py", "gemm", "--image", "sm_90a", "--dtype", "bf16", "--trans", "nt",
              "--shapes", "4096x4096x4096,8192x8192x8192,4095x4097x4104")
    for kernel in run.contents["auto-types"]:
        _, dtype, trans = kernel.split("_")
        for library in ("types", "auto-types"):
            bench(f"gemm {dtype} {trans} sm_90a, {'chosen' if library[0] == 'a' else 'fixed'} tiles", "gemm_bench.py", library,
                  "--image", "sm_90a", "--dtype", dtype, "--trans", trans, "--shapes", "4096x4096x4096,8192x8192x8192")
    if run.has("sgemm_4096"):
        bench("sgemm sm_90a", "gemm_bench.py", "samples", "--image", "sm_90a", "--dtype", "f32", "--kernel", "sgemm_4096_sgemm",
              "--shapes", SPEED[0], "--rounds", 15, "--rival", run.library("sgemm-pipelined"))
    for dtype in ("f16", "bf16"):
        if run.has(*(f"attention_{dtype}_{d}{causal}" for d in (64, 128) for causal in ("", "_causal"))):
            bench(f"attention {dtype} sm_90a", "attention_bench.py", "samples", "--image", "sm_90a", "--dtype", dtype)
    if packed := [prefix for prefix in MEMORY if run.has(prefix)]:
        bench("sm_90a", "memory_bench.py", "samples", "--image", "sm_90a", "--only", ",".join(packed))
    for sample in ("int4", "batched"):
        if run.contents[sample]:
            bench("sample", "samples_bench.py", sample, sample)
    if run.contents["epilogue"] and "gemm_f16_nn" in run.contents["auto"]:
        bench("epilogue", "epilogue_bench.py", "epilogue", run.library("auto"))


def float32(run, o):
    """Products that are as accurate as single precision: each element, errors beside cuBLAS's, times."""
    if not run.contents["precise"]:
        return
    library, shapes = run.library("precise"), "4096x4096x4096,2048x2048x2048,1024x1024x1024,8192x1024x8192"
    for kernel in run.contents["precise"]:
        _, precision, trans = kernel.split("_")
        small = [a for s in FLOAT32 for a in ("--shape", f"{s} float32 {trans}")]
        ok, lines, _, seconds = run.script("gemm.py", library, "--device", "cuda", "--name", kernel + "_matmul", *small)
        run.add("float32", kernel, ok, lines[-1], seconds)
    for shape in ("1024x1024x256", "1024x1024x4096"):
        ok, lines, data, seconds = run.script("precision.py", library, "gemm_ieee_nn_matmul", "gemm_bf16x6_nn_matmul", "--shape", shape)
        for line in lines[-3:]:
            run.add("float32", "errors", ok, line, seconds, data)
    for kernel in run.contents["precise"]:
        _, precision, trans = kernel.split("_")
        ok, lines, data, seconds = run.script("gemm_bench.py", library, "--dtype", "f32", "--kernel", kernel + "_matmul", "--trans", trans,
                                              "--rounds", 10, "--shapes", shapes)
        for row in data["rows"] if data else ():
            theirs = f", cublas {row['cublas_tflops']:6.1f}, ratio {row['ratio']:.3f}" if row["ratio"] else ""
            run.add("float32", f"{kernel} {row['shape']}", ok, f"{row['tilec_tflops']:6.1f} TFLOP/s{theirs}", seconds, row)
        if not data:
            run.add("float32", kernel + " times", False, "; ".join(lines[-3:]), seconds)


# What a call may cost over a bare cuLaunchKernelEx.
LAUNCH_LIMITS = {"same": 1.10, "addresses": 1.50}


def launch(run, o):
    if not run.contents["launch"]:
        return
    start = time.monotonic()
    try:
        done = subprocess.run([os.path.join(BUNDLE, "launch_bench")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=120)
        output, ok = done.stdout, done.returncode == 0
    except subprocess.TimeoutExpired:
        output, ok = f"{STOPPED} 120 s", False
    seconds = time.monotonic() - start
    if not ok:
        run.add("launch", "launch_bench", False, "; ".join(output.splitlines()[-3:]), seconds)
        return
    for line in output.splitlines()[1:]:
        kernel, candidate, median, low, high, *ratio = line.split()
        limit = LAUNCH_LIMITS.get(candidate, float("inf"))
        text = f"{median} ns, 10 to 90 %: {low} to {high}" + (f", {ratio[0]} x bare" if ratio else "")
        run.add("launch", f"{kernel} {candidate}", not ratio or float(ratio[0]) <= limit, text, seconds)


def tiles(run, o):
    for kernel in run.contents["auto"]:
        _, dtype, trans = kernel.split("_")
        ratios, others = {}, {"triton": {}, "fixed": {}}
        packed = kernel in run.contents["shapes"]
        for args in (["--triton"], [], []):
            if packed:
                args = args + ["--fixed", run.library(kernel + "-shapes")]
            ok, lines, data, seconds = run.script("gemm_bench.py", run.library("auto"), "--dtype", dtype, "--trans", trans,
                                                  "--rounds", 20, "--shapes", ",".join(TILES + [ODD]), *args, limit=400)
            if not ok or not data or data["missing"]:
                run.add("tiles", kernel, ok and bool(data), "; ".join(lines[-3:]), seconds)
                break
            for row in data["rows"]:
                ratios.setdefault(row["shape"], []).append(row["ratio"])
                for name, found in others.items():
                    if row[name + "_ratio"]:
                        found.setdefault(row["shape"], []).append(row[name + "_ratio"])
        medians = {shape: statistics.median(r) for shape, r in ratios.items()}
        for shape, median in medians.items():
            beside = "".join(f", {name}/ours {statistics.median(found[shape]):.3f}" for name, found in others.items()
                             if shape in found)
            run.add("tiles", f"{kernel} {shape}", True, f"cuBLAS/ours {median:.3f}{beside}", seconds,
                    {"cublas": ratios[shape], **{name: found.get(shape) for name, found in others.items()}})
        if medians:
            means = {}
            for name, rows in (("all", TILES), ("M <= 256", TILES[-6:]), ("the rest", TILES[:-6])):
                means[name] = statistics.geometric_mean(medians[shape] for shape in rows)
            worst = min(TILES, key=medians.get)
            run.notes.append(f"{kernel}: " + ", ".join(f"{name} {mean:.3f}" for name, mean in means.items())
                             + f", worst {worst} {medians[worst]:.3f}, {ODD} {medians[ODD]:.2f}")
            for name, found in others.items():
                if rows := {shape: statistics.median(found[shape]) for shape in TILES if shape in found}:
                    least = min(rows, key=rows.get)
                    run.notes.append(f"{kernel}: time of {name} / ours: geometric mean {statistics.geometric_mean(rows.values()):.3f} "
                                     f"over {len(rows)} shapes, least {least} {rows[least]:.3f}")


def describe_machine():
    """Name of the device and versions, or an exit with what is missing."""
    try:
        import numpy
        sys.path.insert(0, HERE)
        import cuda_arrays
        return {"device": cuda_arrays.driver().name, "python": sys.version.split()[0], "numpy": numpy.__version__}
    except (ImportError, RuntimeError) as e:
        print(f"run: {e}", file=sys.stderr)
        sys.exit(3)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--steps", default=",".join(STEPS))
    p.add_argument("--json", default="results.json")
    p.add_argument("--seeds", type=int, default=20)
    o = p.parse_args()
    steps = o.steps.split(",")
    if unknown := [s for s in steps if s not in STEPS]:
        p.error(f"unknown step {unknown[0]}; steps are {', '.join(STEPS)}")
    machine = describe_machine()
    with open(os.path.join(BUNDLE, "bundle.json"), encoding="utf-8") as f:
        run = Run(json.load(f))
    print(machine["device"] + ",", run.contents["tilec"], flush=True)
    for step in steps:
        globals()[step](run, o)
    shutil.rmtree(run.scratch)
    wrong = [r for r in run.rows if not r["ok"]]
    for note in run.notes:
        print("note:", note)
    print(f"{len(run.rows) - len(wrong)} ok, {len(wrong)} failed")
    with open(o.json, "w", encoding="utf-8") as f:
        json.dump({"machine": machine, "bundle": run.contents, "notes": run.notes, "results": run.rows}, f, indent=1)
    return 1 if wrong or not run.rows else 0


if __name__ == "__main__":
    sys.exit(main())
