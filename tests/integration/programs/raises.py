"""Operators that raise: caught several times, at different depths, and once not caught at all."""
import torch
from torch import nn
from torch.profiler import record_function

from window import window


def fails_in_operator():
    torch.ones(2, 3) @ torch.ones(2, 3)


def fails_under_a_scope():
    with record_function("doomed"):
        nn.functional.linear(torch.ones(2, 3), torch.ones(4, 5))


def fails_in_backward():
    class Refuses(torch.autograd.Function):
        @staticmethod
        def forward(ctx, value):
            return value * 2

        @staticmethod
        def backward(ctx, gradient):
            return torch.cat([gradient, torch.ones(1, 7)])

    Refuses.apply(torch.ones(2, 2, requires_grad=True)).sum().backward()


def body():
    caught = []
    for failing in (fails_in_operator, fails_under_a_scope, fails_in_backward) * 5:
        try:
            failing()
        except RuntimeError as error:
            caught.append(str(error).splitlines()[0])
    total = torch.ones(3).add(1).sum()
    return caught, total


if __name__ == "__main__":
    torch.set_num_threads(1)
    messages, total = window(body)
    print(len(messages), sorted(set(messages)), total.item(), flush=True)
    fails_under_a_scope()
