"""package.py BUILD SOURCES WORK: installs the runtime package and drives tile_add_library() with a fake tilec.

Every keyword, every configure error, both generators, rebuilds, an installed consumer of a consumer, pkg-config.
"""
import os
import shutil
import subprocess
import sys
import time

build, sources, work = (os.path.abspath(p) for p in sys.argv[1:4])
fake = os.path.join(sources, "Inputs", "fake_tilec.sh")
shutil.rmtree(work, ignore_errors=True)
prefix = os.path.join(work, "inst")
log = os.path.join(work, "tilec.log")
env = dict(os.environ, FAKE_TILEC_LOG=log)
checks = 0


def run(*command, cwd=None, ok=True):
    done = subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if (done.returncode == 0) != ok:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def check(condition, text):
    global checks
    checks += 1
    if not condition:
        sys.exit(f"failed: {text}")


def compiled():
    """What tilec was called for since the last time."""
    lines = open(log).read().splitlines() if os.path.exists(log) else []
    open(log, "w").close()
    return lines


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


def project(name, body, ok=True, generator="Ninja", main="int main(void) { return 0; }\n"):
    """A project with the body as its CMakeLists.txt, configured; its folder and CMake's output."""
    folder = os.path.join(work, name)
    write(os.path.join(folder, "CMakeLists.txt"),
          "cmake_minimum_required(VERSION 3.23)\nproject(p C)\nfind_package(Tile 0.1 REQUIRED)\n" + body)
    write(os.path.join(folder, "main.c"), main)
    for path in ("a.tile", "sub/a.tile", "b.tile"):
        if not os.path.exists(os.path.join(folder, path)):
            write(os.path.join(folder, path), "from common import X\n")
    write(os.path.join(folder, "lib", "common.tile"), "X = 1\n")
    out = run("cmake", "-S", folder, "-B", folder + "/build", "-G", generator, f"-DCMAKE_PREFIX_PATH={prefix}",
              f"-DTILE_TILEC={fake}", ok=ok)
    return folder, out


def make(folder, *extra, ok=True):
    return run("cmake", "--build", folder + "/build", *extra, ok=ok)


def test_keywords():
    cases = {
        "STATIC": ("STATIC SOURCES a.tile", lambda f, c: os.path.exists(f + "/build/libk.a")),
        "SHARED": ("SHARED SOURCES a.tile", lambda f, c: os.path.exists(f + "/build/libk.so")),
        "OBJECT": ("OBJECT SOURCES a.tile", lambda f, c: not os.path.exists(f + "/build/libk.a")),
        "ARCH": ("SOURCES a.tile ARCH sm_90a cpu", lambda f, c: "--arch=sm_90a,cpu" in c),
        "PREFIX": ("SOURCES a.tile PREFIX mine", lambda f, c: "--symbol-prefix=mine" in c),
        "IMPORT_DIRS": ("SOURCES a.tile IMPORT_DIRS lib", lambda f, c: f"-I{f}/lib" in c),
        "TUNING": ("SOURCES a.tile TUNING extra.txt", lambda f, c: f"--tuning={f}/extra.txt" in c),
        "OPTIONS": ("SOURCES a.tile OPTIONS -O3 \"-DS=a b\"", lambda f, c: "-O3 -DS=a b" in c),
        "MANIFEST": ("SOURCES a.tile MANIFEST list", lambda f, c: "--emit-manifest=" in c),
        "DEPENDS": ("SOURCES a.tile DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/extra.txt", lambda f, c: True),
    }
    for keyword, (arguments, good) in cases.items():
        write(os.path.join(work, "kw " + keyword, "extra.txt"), "1")
        symbol = "mine_a" if keyword == "PREFIX" else "t_a"
        main = f"#include <a.h>\nint main(void) {{ return {symbol}() == 7 ? 0 : 1; }}\n"
        folder, _ = project("kw " + keyword, f"tile_add_library(k {arguments})\nadd_executable(app main.c)\n"
                            "target_link_libraries(app PRIVATE k)\n"
                            "if(DEFINED list AND NOT list MATCHES \"a.json$\")\n message(FATAL_ERROR \"${list}\")\nendif()\n",
                            main=main)
        compiled()
        make(folder)
        calls = compiled()
        check(len(calls) == 1 and good(folder, calls[0]), f"{keyword}: {calls}")
        run(folder + "/build/app")
        make(folder)
        check(not compiled(), f"{keyword}: a second build does nothing")
        if keyword in ("DEPENDS", "TUNING"):
            time.sleep(1.1)
            os.utime(folder + "/extra.txt")
            make(folder)
            check(len(compiled()) == 1, f"{keyword} rebuilds")


def test_errors():
    for name, body, part in (
            ("unknown", "tile_add_library(k SOURCES a.tile FROBNICATE 1)", "FROBNICATE"),
            ("unknown-first", "tile_add_library(k FROB SOURCES a.tile)", "unknown arguments: FROB"),
            ("none", "tile_add_library(k STATIC)", "SOURCES is missing"),
            ("novalue", "tile_add_library(k SOURCES a.tile PREFIX)", "no value for PREFIX"),
            ("both", "tile_add_library(k STATIC SHARED SOURCES a.tile)", "exclude each other"),
            ("twice", "tile_add_library(k SOURCES a.tile)\ntile_add_library(l SOURCES a.tile)", "another PREFIX"),
            ("again", "tile_add_library(k SOURCES a.tile ./a.tile)", "already compiled for target k")):
        _, out = project("error " + name, body, ok=False)
        check(part in " ".join(out.split()), f"error {name}: {out}")
    project("fine", "tile_add_library(k SOURCES a.tile)\ntile_add_library(l SOURCES a.tile PREFIX other)")


def test_rebuilds(generator):
    body = "enable_language(CXX)\nadd_subdirectory(inner)\n"
    folder = os.path.join(work, "re build " + generator[:4])
    write(folder + "/inner/CMakeLists.txt",
          "tile_add_library(k SOURCES ../a.tile s/a.tile IMPORT_DIRS ../lib)\ntile_add_library(k2 SOURCES ../b.tile)\n"
          "add_executable(app main.cpp)\ntarget_link_libraries(app PRIVATE k k2)\n")
    write(folder + "/inner/s/a.tile", "X = 2\n")
    write(folder + "/b.tile", "Y = 2\n")
    # Two sources with one stem: the nested header and the outer one.
    write(folder + "/inner/main.cpp", "#include <a.h>\n#include <s/a.h>\n#include <b.h>\nint main() { return t_b() - 7; }\n")
    folder, _ = project("re build " + generator[:4], body, generator=generator)
    make(folder)
    run(folder + "/build/inner/app")
    compiled()
    make(folder)
    check(not compiled(), f"{generator}: null rebuild")
    time.sleep(1.1)
    os.utime(folder + "/lib/common.tile")
    make(folder)
    calls = compiled()
    check(len(calls) == 1 and "/a.tile" in calls[0], f"{generator}: an imported file rebuilds its user only: {calls}")
    time.sleep(1.1)
    write(folder + "/b.tile", "SYNTAX ERROR\n")
    out = make(folder, ok=False)
    check("error[E0001]" in out, f"{generator}: a failing compilation fails the build")
    time.sleep(1.1)
    write(folder + "/b.tile", "Y = 3\n")
    make(folder)
    check(len(compiled()) == 2, f"{generator}: and recovers")


def test_installed_consumer():
    body = ("include(GNUInstallDirs)\ntile_add_library(k SOURCES sub/a.tile PREFIX lib)\n"
            "install(TARGETS k EXPORT E FILE_SET HEADERS)\n"
            "install(EXPORT E NAMESPACE E:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/E FILE EConfig.cmake)\n")
    folder, _ = project("installing", body)
    make(folder)
    run("cmake", "--install", folder + "/build", "--prefix", work + "/inst2")
    write(work + "/user/CMakeLists.txt",
          "cmake_minimum_required(VERSION 3.23)\nproject(u C)\nfind_package(Tile REQUIRED)\nfind_package(E REQUIRED)\n"
          "add_executable(u main.c)\ntarget_link_libraries(u PRIVATE E::k)\n"
          "add_executable(s main.c)\ntarget_link_libraries(s PRIVATE E::k Tile::rt_static)\n")
    write(work + "/user/main.c", "#include <sub/a.h>\nint main(void) { return tile_rt_abi() == TILE_RT_ABI && lib_a() == 7 ? 0 : 1; }\n")
    run("cmake", "-S", work + "/user", "-B", work + "/user/b", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix};{work}/inst2",
        f"-DTILE_TILEC={fake}")
    run("cmake", "--build", work + "/user/b")
    run(work + "/user/b/u")
    run(work + "/user/b/s")
    check(True, "installed consumer")


def test_pkg_config():
    if not shutil.which("pkg-config"):
        return
    libdir = os.path.dirname(os.path.dirname(os.path.dirname(
        next(os.path.join(d, "TileConfig.cmake") for d, _, files in os.walk(prefix) if "TileConfig.cmake" in files))))
    env["PKG_CONFIG_PATH"] = os.path.join(libdir, "pkgconfig")
    flags = run("pkg-config", "--cflags", "--libs", "tile").split()
    write(work + "/pc/main.c", "#include <tile_rt.h>\nint main(void) { return tile_rt_abi() == TILE_RT_ABI ? 0 : 1; }\n")
    run("cc", work + "/pc/main.c", "-o", work + "/pc/main", *flags, "-Wl,-rpath," + libdir)
    run(work + "/pc/main")
    check(True, "pkg-config")


run("cmake", "--install", build, "--component", "runtime", "--prefix", prefix)
test_keywords()
test_errors()
for generator in ("Ninja", "Unix Makefiles"):
    test_rebuilds(generator)
test_installed_consumer()
test_pkg_config()
print(f"package: {checks} checks, 0 failed")
