"""Configuration of every lit suite of tilec: suffixes, substitutions and the features that REQUIRES lines may name."""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(__file__))
import blanks  # noqa: E402

config.name = "tilec"
config.suffixes = [".tile", ".mlir", ".test", ".c"]
config.excludes = ["Inputs", "consumer", "harness", "lit.cfg.py", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_dir, "test")
root = blanks.without_blanks(os.path.dirname(config.test_source_root))
build = blanks.without_blanks(config.build_dir)
config.test_format = blanks.Format(os.path.join(root, "test"), os.path.join(build, "test"))

tools = os.path.join(build, "bin")
path = os.pathsep.join([tools, config.llvm_tools_dir, os.environ.get("PATH", "")])
config.environment["PATH"] = path
# Tests see no setting of the person who runs them, except where the CUDA toolkit is.
for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["LC_ALL"] = "C.UTF-8"

config.substitutions += [
    ("%tilec", os.path.join(tools, "tilec")),
    ("%samples", os.path.join(root, "samples")),
    ("%root", root),
    ("%build", build),
    ("%python", config.python),
    ("%cc", config.cc),
    ("%cxx", config.cxx),
    ("%gcc", shutil.which("gcc") or "gcc"),
    ("%gxx", shutil.which("g++") or "g++"),
    ("%rt_include", os.path.join(root, "runtime")),
    ("%rt_lib", os.path.join(build, "lib")),
    # A program that uses compiled kernels: plain C, the runtime as an archive.
    ("%link_rt", f"{build}/lib/libtile_rt.a -lpthread -ldl -lm"),
]


def toolkit():
    for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"):
        if os.path.exists(os.path.join(os.environ.get(name, "/nonexistent"), "bin", "ptxas")):
            return True
    return shutil.which("ptxas") is not None


if toolkit():
    config.available_features.add("ptxas")
for tool in ("nvcc", "nvdisasm", "valgrind"):
    if shutil.which(tool):
        config.available_features.add(tool)
if os.path.exists(os.path.join(config.llvm_tools_dir, "ld.lld")) or shutil.which("ld.lld-22"):
    config.available_features.add("lld")
