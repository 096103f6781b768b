"""A crash and an interrupt in the middle of a compilation. usage: signals.py TILEC SOURCE FOLDER

A ptxas that never ends holds the compilation; then the signal hits the thread that compiles (a crash) or the process (an
interrupt). Prints the exit code, which outputs of an earlier run are left, and the messages.
"""
import ctypes
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
echo $$ > pid.new && mv pid.new ptxas.pid
exec sleep 100
"""
SYS_TGKILL = 234


def wait_for_ptxas():
    """The process number of the ptxas that tilec has started."""
    for _ in range(12000):
        if os.path.exists("ptxas.pid"):
            return int(open("ptxas.pid").read())
        time.sleep(0.01)
    sys.exit("tilec never started ptxas")


def crash(process):
    """SIGSEGV as a wild access raises it: to the thread that compiles, the first after the main thread."""
    threads = sorted(int(t) for t in os.listdir(f"/proc/{process.pid}/task"))
    assert ctypes.CDLL(None).syscall(SYS_TGKILL, process.pid, threads[1], signal.SIGSEGV) == 0


def compile_and(hit):
    for name in OUTPUTS:
        open(name, "w").close()
    with open("messages", "w+") as messages:
        process = subprocess.Popen([tilec, "main.tile", "--arch=sm_80", "-w", "--ptxas-path=./ptxas", "-MD", "-o", "x.o",
                                    "--emit-header=x.h", "--emit-manifest=x.json"], stderr=messages)
        tool = wait_for_ptxas()
        hit(process)
        code = process.wait(60)
        os.kill(tool, signal.SIGKILL)
        os.remove("ptxas.pid")
        messages.seek(0)
        left = [name for name in OUTPUTS if os.path.exists(name)]
        return f"code {code}, left: {' '.join(left) or 'nothing'}\n{messages.read()}"


os.makedirs(folder, exist_ok=True)
shutil.copy(source, os.path.join(folder, "main.tile"))
os.chdir(folder)
with open("ptxas", "w") as script:
    script.write(PTXAS)
os.chmod("ptxas", 0o755)
print("crash:", compile_and(crash))
print("interrupt:", compile_and(lambda process: process.send_signal(signal.SIGINT)))
print("termination:", compile_and(lambda process: process.send_signal(signal.SIGTERM)))
