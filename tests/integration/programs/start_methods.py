"""Children of `multiprocessing`, made by the start method argv[1]; each runs argv[2] operators.

One process, which has a child of its own; with "fork" also a pool of two, with eight tasks. They
leave by os._exit, as this package has it.
"""
import multiprocessing
import sys

import torch

POOL_TASKS = 8


def turns(count):
    torch.set_num_threads(1)
    with torch.no_grad():
        value, one = torch.zeros(1), torch.ones(1)
        for _ in range(count):
            value.add_(one)
    return int(value.item())


def work(method, count, has_child):
    turns(count)
    if has_child:
        run(method, count, has_child=False)


def run(method, count, has_child):
    context = multiprocessing.get_context(method)
    process = context.Process(target=work, args=(method, count, has_child))
    process.start()
    process.join()
    print(method, process.exitcode, flush=True)


def main():
    method, count = sys.argv[1], int(sys.argv[2])
    turns(count)
    run(method, count, has_child=True)
    if method == "fork":
        with multiprocessing.get_context(method).Pool(2) as pool:
            print("pool", pool.map(turns, [count] * POOL_TASKS, chunksize=1))
            pool.close()
            pool.join()


if __name__ == "__main__":
    main()
