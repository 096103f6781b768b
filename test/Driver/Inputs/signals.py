"""A crash and an interrupt in the middle of a compilation. usage: signals.py TILEC SOURCE FOLDER

A pipe as the source, or a ptxas that never ends, holds the compilation; then the signal hits the thread that compiles (a crash) or the process (an
interrupt). Prints the exit code, which outputs of an earlier run are left, and the messages.
"""
import ctypes
import glob
import os
import shutil
import signal
import subprocess
import sys
import time

tilec, source, folder = sys.argv[1:]
OUTPUTS = ["x.d", "x.h", "x.json", "x.o"]
PTXAS = """#!/bin/sh
[ "$1" = --version ] && { echo "release 13.0, V13.0.88"; exit 0; }
touch ptxas.$$
exec sleep 100
"""
SYS_TGKILL = 234


def wait_for_ptxas(count):
    """The process numbers of the ptxas that tilec has started."""
    for _ in range(12000):
        started = glob.glob("ptxas.*")
        if len(started) == count:
            return [int(name.split(".")[1]) for name in started]
        time.sleep(0.01)
    sys.exit("tilec never started ptxas")


def crash(process):
    """SIGSEGV as a wild access raises it: to the last thread, one that compiles."""
    thread = max(int(t) for t in os.listdir(f"/proc/{process.pid}/task"))
    assert ctypes.CDLL(None).syscall(SYS_TGKILL, process.pid, thread, signal.SIGSEGV) == 0


def interrupt(process):
    process.send_signal(signal.SIGINT)


def terminate(process):
    process.send_signal(signal.SIGTERM)


def compile_and(hit, *archs):
    for name in OUTPUTS:
        open(name, "w").close()
    with open("messages", "w+") as messages:
        process = subprocess.Popen([tilec, "main.tile", "--arch=" + ",".join(archs), "-j", "2", "-w", "--ptxas-path=./ptxas", "-MD", "-o", "x.o",
                                    "--emit-header=x.h", "--emit-manifest=x.json"], stderr=messages)
        tools = wait_for_ptxas(len(archs))
        hit(process)
        time.sleep(0.2)
        for tool in tools:
            os.kill(tool, signal.SIGKILL)
            os.remove(f"ptxas.{tool}")
        code = process.wait(60)
        messages.seek(0)
        left = [name for name in OUTPUTS if os.path.exists(name)]
        return f"code {code}, left: {' '.join(left) or 'nothing'}\n{messages.read()}"


def crash_while_reading():
    """The source is a pipe that never says anything."""
    os.mkfifo("pipe.tile")
    process = subprocess.Popen([tilec, "pipe.tile"], stderr=subprocess.PIPE, text=True)
    writer = os.open("pipe.tile", os.O_WRONLY)  # waits for the reader
    crash(process)
    messages = process.communicate(timeout=60)[1]
    os.close(writer)
    return f"code {process.returncode}\n{messages}"


os.makedirs(folder, exist_ok=True)
shutil.copy(source, os.path.join(folder, "main.tile"))
os.chdir(folder)
with open("ptxas", "w") as script:
    script.write(PTXAS)
os.chmod("ptxas", 0o755)
print("crash while reading:", crash_while_reading())
print("crash:", compile_and(crash, "sm_80"))
print("crash beside another:", compile_and(crash, "sm_80", "sm_89"))
print("interrupt:", compile_and(interrupt, "sm_80"))
print("termination:", compile_and(terminate, "sm_80", "sm_89"))
