"""A small Transformer classifier trained for a few steps on made-up data: something real to trace.

    torchtrace run -- python3 examples/train_step.py

It knows nothing of torchtrace. The record_function marks are PyTorch's own and show up in a trace
as operators around those that run inside them.
"""

import argparse

import torch
from torch import nn
from torch.autograd.profiler import record_function


class Classifier(nn.Module):
    """Tokens in, one of `classes` out."""

    def __init__(self, vocabulary=1000, width=64, classes=10):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        layer = nn.TransformerEncoderLayer(width, nhead=4, dim_feedforward=128, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, tokens):
        return self.head(self.encoder(self.embedding(tokens)).mean(dim=1))


def train_step(model, optimizer, tokens, labels):
    """One forward and backward pass and one update; returns the loss."""
    with record_function("forward"):
        loss = nn.functional.cross_entropy(model(tokens), labels)
    with record_function("backward"):
        optimizer.zero_grad()
        loss.backward()
    with record_function("update"):
        optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--steps", type=int, default=20)
    steps = parser.parse_args().steps

    torch.manual_seed(0)
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    tokens = torch.randint(0, 1000, (16, 32))
    labels = torch.randint(0, 10, (16,))
    losses = [train_step(model, optimizer, tokens, labels) for _ in range(steps)]
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f} after {steps} steps")


if __name__ == "__main__":
    main()
