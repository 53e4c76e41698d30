"""Training steps of a small multi-layer perceptron with SGD and momentum."""
import torch
from torch import nn

from window import checksum, window


def train(steps=3):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    inputs, labels = torch.randn(16, 32), torch.randint(0, 10, (16,))
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return losses, list(model.parameters())


if __name__ == "__main__":
    torch.set_num_threads(1)
    losses, parameters = window(train)
    print("losses", [value.item() for value in losses])
    print("parameters", checksum(parameters))
