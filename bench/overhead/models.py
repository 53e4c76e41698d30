"""What is timed: loops(turns) that run a known kind of program so many times."""
import torch


def add_loop(turns):
    """One operator per turn, on tensors of one element."""
    x, y = torch.zeros(1), torch.ones(1)
    with torch.no_grad():
        for _ in range(turns):
            x.add_(y)


class TrainingStep:
    """Forward, loss, backward and optimizer of a model on one batch."""

    def __init__(self, model, inputs, targets):
        self._model, self._inputs, self._targets = model, inputs, targets
        self._optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def __call__(self, turns):
        for _ in range(turns):
            self._optimizer.zero_grad()
            outputs = self._model(self._inputs)
            loss = torch.nn.functional.cross_entropy(outputs.flatten(0, -2), self._targets)
            loss.backward()
            self._optimizer.step()


def mlp_step():
    """A step whose operators are small."""
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
    )
    return TrainingStep(model, torch.randn(32, 64), torch.randint(0, 10, (32,)))


def transformer_step():
    """A step of two layers, whose operators are of many kinds and mostly small."""
    layer = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    model = torch.nn.Sequential(torch.nn.TransformerEncoder(layer, 2), torch.nn.Linear(64, 10))
    return TrainingStep(model, torch.randn(8, 16, 64), torch.randint(0, 10, (8 * 16,)))
