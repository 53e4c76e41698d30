"""User scopes that end on another thread than they started on, while both threads run operators.

  handed over    opened here, closed by a worker thread, inside a scope of the worker's own
  future         opened here, closed by the callback of a torch future that a worker completes
  overtaken      opened first here, closed after the scope opened second: out of order on one thread
Each thread's operators must keep their own thread's parents all the while.
"""
import threading

import torch
from torch.profiler import record_function

enter = torch.ops.profiler._record_function_enter_new


def leave(handle):
    overloads = torch.ops.profiler._record_function_exit
    getattr(overloads, "_RecordFunction", overloads)(handle)


def in_thread(body):
    thread = threading.Thread(target=body)
    thread.start()
    thread.join()


def handed_over(value):
    def close(handle):
        with record_function("worker's own"):
            value.neg()
            leave(handle)
            value.abs()

    with record_function("owner's own"):
        handle = enter("handed over", None)
        value.neg()
        in_thread(lambda: close(handle))
        value.abs()


def future(value):
    promise = torch.futures.Future()
    with record_function("future") as scope:
        value.neg()
        done = scope._call_end_callbacks_on_future(promise)
    in_thread(lambda: promise.set_result(value))
    done.wait()


def overtaken(value):
    first = enter("overtaken", None)
    second = enter("overtaking", None)
    value.neg()
    leave(first)
    value.abs()
    leave(second)


def main():
    with torch.no_grad():
        value = torch.ones(1)
        for _ in range(5):
            handed_over(value)
            future(value)
            overtaken(value)
        value.ceil()
    print("done")


if __name__ == "__main__":
    main()
