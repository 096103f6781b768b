"""A crash and an interrupt in the middle of a compilation. usage: signals.py TILEC FOLDER

The source imports a pipe: once tilec waits for its contents, the signal hits the thread that compiles (a crash) or the
process (an interrupt). Prints the exit code and which outputs of an earlier run are left.
"""
import ctypes
import errno
import os
import signal
import subprocess
import sys
import time

tilec, folder = sys.argv[1:]
OUTPUTS = ["x.o", "x.h", "x.d", "x.json"]
SYS_TGKILL = 234


def open_when_read(pipe):
    """Opens a pipe for writing as soon as somebody reads it."""
    for _ in range(6000):
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            time.sleep(0.01)
    sys.exit("tilec never read the imported file")


def crash(process):
    """SIGSEGV as a wild access raises it: to one thread, not to the process."""
    threads = [int(t) for t in os.listdir(f"/proc/{process.pid}/task") if int(t) != process.pid]
    assert len(threads) == 1, threads
    assert ctypes.CDLL(None).syscall(SYS_TGKILL, process.pid, threads[0], signal.SIGSEGV) == 0


def compile_and(hit):
    for name in OUTPUTS:
        open(name, "w").close()
    process = subprocess.Popen([tilec, "main.tile", "-o", "x.o", "--emit-header=x.h", "--emit-manifest=x.json", "-MD"],
                               stderr=subprocess.PIPE, text=True)
    writer = open_when_read("pipe.tile")
    hit(process)
    _, messages = process.communicate(timeout=60)
    os.close(writer)
    left = [name for name in sorted(os.listdir(".")) if name not in ("main.tile", "pipe.tile")]
    return f"code {process.returncode}, left: {' '.join(left) or 'nothing'}\n{messages}"


os.makedirs(folder, exist_ok=True)
os.chdir(folder)
with open("main.tile", "w") as source:
    source.write("from pipe import X\n")
if not os.path.exists("pipe.tile"):
    os.mkfifo("pipe.tile")
print("crash:", compile_and(crash))
print("interrupt:", compile_and(lambda process: process.send_signal(signal.SIGINT)))
print("termination:", compile_and(lambda process: process.send_signal(signal.SIGTERM)))
