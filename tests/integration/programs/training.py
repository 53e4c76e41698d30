"""What the programs that train a model have in common: the steps, and what they print of them."""
import torch

from window import checksum, window


def run_steps(model, optimizer, compute_loss, steps):
    """Trains; returns the losses and the parameters that came out."""
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = compute_loss()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    return losses, list(model.parameters())


def main(train):
    """Runs `train` in the window and prints what must not depend on who watches."""
    torch.set_num_threads(1)
    losses, parameters = window(train)
    print("losses", [value.item() for value in losses])
    print("parameters", checksum(parameters))
