"""One TransformerEncoder driven forward and backward from eight Python threads at once.

Gradients are returned, not accumulated, and there is no dropout: the threads share the model but no
result depends on their order.
"""
import threading

import torch
from torch import nn

from window import (
    append_count,
    can_profile_all_threads,
    checksum,
    is_counting,
    profiled_calls,
    window,
)

THREADS = 8
PASSES = 3


def make_model():
    torch.manual_seed(4)
    layer = nn.TransformerEncoderLayer(
        16, nhead=2, dim_feedforward=32, dropout=0.0, batch_first=True
    )
    return nn.TransformerEncoder(layer, num_layers=2)


def drive(model, inputs):
    parameters = list(model.parameters())
    for _ in range(PASSES):
        loss = model(inputs).square().mean()
        gradients = torch.autograd.grad(loss, parameters)
    return gradients


def drive_from_threads(model, inputs):
    results = [None] * THREADS

    def work(index):
        results[index] = drive(model, inputs[index])

    threads = [threading.Thread(target=work, args=(index,)) for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def main():
    torch.set_num_threads(1)
    model = make_model()
    inputs = list(torch.randn(THREADS, 2, 6, 16).unbind(0))
    if is_counting() and not can_profile_all_threads():
        # Every thread does the same: eight times what one does, profiled on the main thread.
        _, calls = profiled_calls(lambda: drive(model, inputs[0]))
        append_count({name: THREADS * count for name, count in calls.items()})
        results = drive_from_threads(model, inputs)
    else:
        results = window(
            lambda: drive_from_threads(model, inputs), all_threads=can_profile_all_threads()
        )
    for index, gradients in enumerate(results):
        print("thread", index, checksum(gradients))


if __name__ == "__main__":
    main()
