"""Packs device tests and benchmarks into a folder to carry to a machine with an NVIDIA GPU.

usage: bundle.py BUILD_DIR OUT [--only gemm_f16_nn,..] [--per-shape] [--jobs N]

OUT is written anew: libraries with their images inside (sm_90a and compute_80), the harness, the shapes and a script `run` that
needs python3 with numpy (another one: PYTHON=..) and the driver there, nothing else; `run --help` says what it does. --only packs
some kernels; --per-shape adds the products of the `tiles` step built for each shape by itself (100 compilations).
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TEST = os.path.dirname(HERE)
sys.path[:0] = [HERE, os.path.join(TEST, "harness")]
import build  # noqa: E402
import run_bundle  # noqa: E402

IMAGES = ["sm_90a", "compute_80"]
SAMPLES = ["elementwise", "softmax", "attention", "sgemm", "batched", "int4", "epilogue"]
# Built with --sanitize=schedule: a TMA and wgmma product, another pitch and transposes, plain arithmetic, roles without a product.
DELAYED = ["gemm_f16_nn", "gemm_bf16_tt", "gemm_f32_nn", "attention_f16_64", "attention_f16_64_causal", "attention_f16_128",
           "attention_f16_128_causal", "softmax_f32", "gemm_tf32_nn", "gemm_e4m3_nn", "gemm_i8_nt"]
# The sample as written, its tiles chosen by the compiler: one library for all shapes.
AUTO = ["gemm_f16_nn", "gemm_f16_nt", "gemm_bf16_nn", "gemm_bf16_nt"]
# Products of other types that torch has, too; all of them are checked.
FAST_TYPES = ["gemm_e4m3_nt", "gemm_i8_nt", "gemm_tf32_nt", "gemm_tf32_nn"]
# Kernels whose launches are timed from C.
LAUNCHED = ["gemm_f16_nn", "elementwise_f16"]
# What statements and operators mean: programs, each with the script that knows their results.
LANGUAGE = {"semantics": "semantics.py", "nothing": "nothing.py", "random": "random_programs.py",
            "wide-tiles": "wide_tiles.py"}
# gemm_f16_nn with one wait less: name -> (image, text of the op, number of those in the module, what is missing). Waits for the
# engines are not among them: a pause gives a copy or a product in flight time to end, so it hides what it should show.
MUTATIONS = {
    "no-empty-wait": ("sm_90a", "mbarrier.try_wait", 0, "the producer does not wait for a slot to be empty"),
    "no-full-wait": ("sm_90a", "mbarrier.try_wait", 1, "the consumers do not wait for a slot to be full"),
    "no-store-barrier": ("sm_90a", "nvvm.barrier", 3, "the copy engine does not wait for what warps store into the staging buffer"),
    "no-slot-barrier": ("compute_80", "nvvm.barrier", 0, "warps do not wait for each other's parts of a slot"),
}


def mutate(tools, name, sanitize, out):
    """Library OUT: gemm_f16_nn without one wait, with or without delays."""
    image, text, number, _ = MUTATIONS[name]
    prefix, flags = next(v for v in build.variants("gemm", image) if v[0] == "gemm_f16_nn")
    command = build.compile_command(tools["tilec"], "gemm", image, prefix, flags) + ["-w"] + sanitize
    threads, mutant, object_ = (out + end for end in (".mlir", ".mutant.mlir", ".o"))
    build.run(command + [f"--emit-ir-threads={threads}"])
    done = subprocess.run([tools["tile-opt"], threads, f"--test-tile-remove-wait=match={text} index={number}", "-o", mutant],
                          stderr=subprocess.PIPE, text=True)
    if done.returncode or text not in done.stderr:
        sys.exit(f"bundle.py: {name}: {done.stderr}")
    build.run(command + [f"--load-ir=threads={mutant}", f"--emit-obj={object_}"])
    build.link([object_], tools["rt"], out)
    for file in (threads, mutant, object_):
        os.remove(file)


def pack_language(tools, name, out):
    """OUT/NAME.tile and its library: programs whose results Python computes too."""
    print(f"bundle: {name}.so", flush=True)
    source, library = os.path.join(out, name + ".tile"), os.path.join(out, "lib", name)
    if name == "random":
        build.run([sys.executable, os.path.join(TEST, "MLIRGen", "Inputs", LANGUAGE[name]), "write", source, "13", "8"])
    else:
        shutil.copy(os.path.join(TEST, "MLIRGen", name + ".tile"), source)
    build.run([tools["tilec"], source, "--arch=" + ",".join(IMAGES), "-w", "-o", library + ".o"])
    build.link([library + ".o"], tools["rt"], library + ".so")
    os.remove(library + ".o")


def pack_pipelined(tools, lib):
    """sgemm with its plain loop written as a pipeline of three stages, which should make no difference."""
    print("bundle: sgemm-pipelined.so", flush=True)
    prefix, flags = next(v for v in build.variants("sgemm", "") if v[0] == "sgemm_4096")
    command = build.compile_command(tools["tilec"], "sgemm", ",".join(IMAGES), prefix, flags)
    plain = next(i for i, word in enumerate(command) if word.endswith("sgemm.tile"))
    with open(command[plain], encoding="utf-8") as f:
        text, count = re.subn(r"range\((tl\.ceildiv\(K, BK\))\)", r"tl.Pipelined(\1, num_stages=3)", f.read())
    if count != 1:
        sys.exit("bundle.py: sgemm.tile has no loop `range(tl.ceildiv(K, BK))`")
    command[plain], object_ = os.path.join(lib, "sgemm.tile"), os.path.join(lib, "sgemm.o")
    with open(command[plain], "w", encoding="utf-8") as f:
        f.write(text)
    build.run(command + ["-w", f"--emit-obj={object_}"])
    build.link([object_], tools["rt"], os.path.join(lib, "sgemm-pipelined.so"))
    os.remove(command[plain])
    os.remove(object_)


def pack_shapes(tools, kernels, lib, jobs):
    """KERNEL-shapes.so for each of `kernels`: the product with its tiles chosen for one shape, known when it is compiled."""
    for prefix, flags in (v for v in build.variants("gemm", "") if v[0] in kernels):
        print(f"bundle: {prefix}-shapes.so, {len(run_bundle.TILES)} objects", flush=True)
        commands, objects = [], []
        for shape in run_bundle.TILES:
            sizes = [f"-D{name}={size}" for name, size in zip("MNK", shape.split("x"))]
            objects.append(os.path.join(lib, f"{prefix}-{shape}.o"))
            commands.append(build.compile_command(tools["tilec"], "gemm", "sm_90a", f"{prefix}_{shape}", flags + sizes, "auto")
                            + ["-w", f"--emit-obj={objects[-1]}"])
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(build.run, commands))
        build.link(objects, tools["rt"], os.path.join(lib, prefix + "-shapes.so"))
        for file in objects:
            os.remove(file)
    return kernels


def pack_launch_bench(tools, objects, out):
    """OUT/launch_bench: a C program with a product, its tiles chosen by the compiler, and an element-wise kernel. Their objects
    lie in the folder OBJECTS."""
    print("bundle: launch_bench", flush=True)
    names = [os.path.join(objects, name) for name in LAUNCHED]
    build.run(["gcc", "-O2", "-D_GNU_SOURCE", "-I", os.path.join(os.path.dirname(TEST), "runtime"), "-I", objects,
               os.path.join(HERE, "Inputs", "launch_bench.c"), *[name + ".o" for name in names], tools["rt"], "-lpthread", "-ldl",
               "-o", os.path.join(out, "launch_bench")])


def copy_scripts(out):
    shutil.copytree(os.path.join(TEST, "harness"), os.path.join(out, "harness"), ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(os.path.join(HERE, "run_bundle.py"), os.path.join(out, "harness"))
    for script in LANGUAGE.values():
        shutil.copy(os.path.join(TEST, "MLIRGen", "Inputs", script), os.path.join(out, "harness"))
    shutil.copy(os.path.join(TEST, "shapes.txt"), out)
    with open(os.path.join(out, "run"), "w", encoding="utf-8") as f:
        f.write('#!/bin/sh\n# Tests and timings on this machine\'s GPU; --help says more.\n'
                'exec ${PYTHON:-python3} "$(dirname "$0")/harness/run_bundle.py" "$@"\n')
    os.chmod(os.path.join(out, "run"), 0o755)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build_dir")
    p.add_argument("out")
    p.add_argument("--only")
    p.add_argument("--per-shape", action="store_true")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    o = p.parse_args()
    only = o.only.split(",") if o.only else None
    tools = {"tilec": os.path.join(o.build_dir, "bin", "tilec"), "tile-opt": os.path.join(o.build_dir, "bin", "tile-opt"),
             "rt": os.path.join(o.build_dir, "lib", "libtile_rt.a")}
    shutil.rmtree(o.out, ignore_errors=True)
    lib = os.path.join(o.out, "lib")
    os.makedirs(lib)
    objects = os.path.join(o.out, "objects")
    os.makedirs(objects)
    copy_scripts(o.out)

    def pack(name, samples, chosen, args=(), images=IMAGES, policy="fixed", keep=None):
        wanted = [prefix for s in samples for prefix, _ in build.variants(s, "") if not chosen or prefix in chosen]
        wanted = [w for w in wanted if not only or w in only]
        if wanted:
            print(f"bundle: {name}.so, {len(wanted)} objects", flush=True)
            build.build(tools["tilec"], os.path.join(lib, name + ".so"), samples, tools["rt"], ",".join(images), wanted,
                        ["-w", *args], o.jobs, policy, keep)
        return wanted

    contents = {"images": IMAGES, "gemm": pack("gemm", ["gemm"], None),
                "auto": pack("auto", ["gemm"], AUTO, images=["sm_90a"], policy="auto", keep=objects),
                "types": pack("types", ["gemm-types"], None),
                "auto-types": pack("auto-types", ["gemm-types"], FAST_TYPES, images=["sm_90a"], policy="auto"),
                "precise": pack("precise", ["gemm-precise"], None, images=["sm_90a"]),
                "samples": pack("samples", SAMPLES, None),
                "int4": pack("int4", ["int4-tiles"], None, images=["sm_90a"]),
                "batched": pack("batched", ["batched-tiles"], None, images=["sm_90a"], policy="auto"),
                "epilogue": pack("epilogue", ["epilogue-tiles"], None, images=["sm_90a"], policy="auto"),
                "delayed": pack("delayed", ["gemm", "gemm-types", *SAMPLES], DELAYED, ["--sanitize=schedule"]), "mutants": {}}
    contents["shapes"] = pack_shapes(tools, contents["auto"], lib, o.jobs) if o.per_shape else []
    contents["whole"] = [s for s in SAMPLES if all(prefix in contents["samples"] for prefix, _ in build.variants(s, ""))]
    for name, (*_, what) in MUTATIONS.items() if not only or "gemm_f16_nn" in only else ():
        print(f"bundle: mutant {name}", flush=True)
        contents["mutants"][name] = what
        for kind, sanitize in (("delayed", ["--sanitize=schedule"]), ("plain", [])):
            mutate(tools, name, sanitize, os.path.join(lib, f"mutant-{name}-{kind}.so"))
    contents["launch"] = contents["auto"][:1] == LAUNCHED[:1]
    if contents["launch"]:
        build.build(tools["tilec"], os.path.join(objects, "unused.so"), ["elementwise"], tools["rt"], "sm_90a", LAUNCHED, ["-w"],
                    keep=objects)
        pack_launch_bench(tools, objects, o.out)
    shutil.rmtree(objects)
    if "sgemm_4096" in contents["samples"]:
        pack_pipelined(tools, lib)
    contents["language"] = [name for name in LANGUAGE if not only or name in only]
    for name in contents["language"]:
        pack_language(tools, name, out=o.out)
    contents["tilec"] = subprocess.check_output([tools["tilec"], "--version"], text=True).strip()
    with open(os.path.join(o.out, "bundle.json"), "w", encoding="utf-8") as f:
        json.dump(contents, f, indent=1)
    size = sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(o.out) for f in files)
    print(f"bundle: {o.out}, {size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
