"""Runs operators when it is told to, on threads that live as long as the program.

argv[1] is the number of threads. Each line of stdin is a command, answered by "done":
  NAME COUNT   each thread calls torch.Tensor.NAME COUNT times, as mul_ 100
  hold NAME    a scope NAME is opened on the main thread, and closed by the next `release`
  release
  fork NAME COUNT FILE   a child waits until FILE exists, calls NAME COUNT times and leaves
  wait         for that child
  clear        all callbacks are removed, as torch._C._autograd._clear_callbacks does
  clear_global the same for global ones, by at::clearGlobalCallbacks
"""
import ctypes
import os
import pathlib
import queue
import sys
import threading
import time

import torch
from torch.profiler import record_function


def call(name, count):
    value, one = torch.zeros(1), torch.ones(1)
    operator = getattr(value, name)
    arguments = () if name == "neg_" else (one,)
    with torch.no_grad():
        for _ in range(count):
            operator(*arguments)


def serve(commands, answers):
    """A thread: runs what it is given until it is given nothing."""
    for name, count in iter(commands.get, None):
        call(name, count)
        answers.put(name)


def fork(name, count, flag):
    """Returns the child's pid."""
    pid = os.fork()
    if pid != 0:
        return pid
    while not os.path.exists(flag):
        time.sleep(0.01)
    call(name, int(count))
    os._exit(0)


def clear_global():
    folder = pathlib.Path(torch.__file__).parent / "lib"
    wheel = folder / "libtorch_cpu.so"
    # The library that is loaded already: Debian's is found by its name.
    library = ctypes.CDLL(str(wheel) if wheel.exists() else "libtorch_cpu.so.1.13")
    getattr(library, "_ZN2at20clearGlobalCallbacksEv")()


def main():
    queues = [queue.Queue() for _ in range(int(sys.argv[1]))]
    answers = queue.Queue()
    threads = []
    for each in queues:
        threads.append(threading.Thread(target=serve, args=(each, answers), daemon=True))
        threads[-1].start()
    held, children = [], []
    for line in sys.stdin:
        name, *arguments = line.split()
        if name == "clear":
            torch._C._autograd._clear_callbacks()
        elif name == "clear_global":
            clear_global()
        elif name == "fork":
            children.append(fork(*arguments))
        elif name == "wait":
            assert os.waitpid(children.pop(), 0)[1] == 0
        elif name == "hold":
            held.append(record_function(arguments[0]))
            held[-1].__enter__()
        elif name == "release":
            held.pop().__exit__(None, None, None)
        else:
            for each in queues:
                each.put((name, int(arguments[0])))
            for _ in queues:
                answers.get()
        print("done", flush=True)
    for each in queues:
        each.put(None)
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
