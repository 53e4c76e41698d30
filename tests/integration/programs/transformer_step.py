"""Training steps of a torch.nn.TransformerEncoder with Adam."""
import torch
from torch import nn

from training import main, run_steps


def train(steps=2):
    torch.manual_seed(2)
    layer = nn.TransformerEncoderLayer(d_model=32, nhead=4, dim_feedforward=64, batch_first=True)
    model = nn.TransformerEncoder(layer, num_layers=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    inputs, target = torch.randn(4, 12, 32), torch.randn(4, 12, 32)
    return run_steps(model, optimizer, lambda: nn.functional.mse_loss(model(inputs), target), steps)


if __name__ == "__main__":
    main(train)
