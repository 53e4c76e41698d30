"""Training steps of a torch.nn.TransformerEncoder with Adam."""
import torch
from torch import nn

from window import checksum, window


def train(steps=2):
    torch.manual_seed(2)
    layer = nn.TransformerEncoderLayer(d_model=32, nhead=4, dim_feedforward=64, batch_first=True)
    model = nn.TransformerEncoder(layer, num_layers=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    inputs, target = torch.randn(4, 12, 32), torch.randn(4, 12, 32)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), target)
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return losses, list(model.parameters())


if __name__ == "__main__":
    torch.set_num_threads(1)
    losses, parameters = window(train)
    print("losses", [value.item() for value in losses])
    print("parameters", checksum(parameters))
