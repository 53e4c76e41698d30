"""Training steps of a small multi-layer perceptron with SGD and momentum."""
import torch
from torch import nn

from training import main, run_steps


def train(steps=3):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    inputs, labels = torch.randn(16, 32), torch.randint(0, 10, (16,))
    return run_steps(
        model, optimizer, lambda: nn.functional.cross_entropy(model(inputs), labels), steps
    )


if __name__ == "__main__":
    main(train)
