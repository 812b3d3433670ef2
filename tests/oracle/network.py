"""A fully connected network replayed in PyTorch, in double precision, from weights that are written here.

Needs a Python with torch, and a program that was built with libtorch.
"""

import softmax
import torch
from generate.draws import Draws
from predict.safetensors import written

WIDTHS = [softmax.FEATURES, 6, 4, softmax.CLASSES]
RUNS = {
    "plain": ({}, {}),
    "momentum and prox": ({"momentum": 0.9, "prox": 0.5}, {"weighting": '"fedavg"'}),
    "weight decay": ({"lr_decay": 0.9, "weight_decay": 0.05}, {"optimizer": '{ kind = "momentum" }'}),
    "corrections": ({"variance_reduction": '"fednova"'}, {"close": "{ buffer = 2 }"}),
}


class Network:
    """The mean cross-entropy of layers with ReLU between them; the model is all their numbers in a row."""

    def __init__(self, train, test, split):
        layers = range(1, len(WIDTHS))
        self.tensors = [f"fc{layer}.{kind}" for layer in layers for kind in ("weight", "bias")]
        self.shapes = [shape for before, after in zip(WIDTHS, WIDTHS[1:]) for shape in ([after, before], [after])]
        self.size = sum(torch.Size(shape).numel() for shape in self.shapes)
        self.shares = [len(samples) / len(train) for samples in split]
        self.clients = [samples_of([train[place] for place in samples]) for samples in split]
        self.train, self.test = samples_of(train), samples_of(test)

    def start(self, draws):
        """Weights to begin with, as tensors for a file. Halves of single precision, so nothing is rounded."""
        numbers = lambda shape: [draws.whole(-128, 128) / 128 for _ in range(torch.Size(shape).numel())]
        return {name: (shape, numbers(shape)) for name, shape in zip(self.tensors, self.shapes)}

    def scores(self, x, features):
        """What the network makes of samples."""
        parts = list(torch.split(x, [torch.Size(shape).numel() for shape in self.shapes]))
        for layer in range(len(WIDTHS) - 1):
            weight, bias = parts[2 * layer].reshape(self.shapes[2 * layer]), parts[2 * layer + 1]
            features = torch.nn.functional.linear(features, weight, bias)
            if layer < len(WIDTHS) - 2:
                features = torch.relu(features)
        return features

    def loss(self, x, samples):
        return torch.nn.functional.cross_entropy(self.scores(x, samples[0]), samples[1])

    def gradient(self, client, x):
        x = torch.tensor(x, dtype=torch.float64, requires_grad=True)
        self.loss(x, self.clients[client]).backward()
        return x.grad.tolist()

    def metrics(self, x):
        x = torch.tensor(x, dtype=torch.float64)
        right = self.scores(x, self.test[0]).argmax(1) == self.test[1]
        return {
            "train_loss": self.loss(x, self.train).item(),
            "test_accuracy": right.double().mean().item(),
            "test_loss": self.loss(x, self.test).item(),
        }


def samples_of(pairs):
    features = torch.tensor([features for features, _ in pairs], dtype=torch.float64)
    return features, torch.tensor([label for _, label in pairs])


def check(program):
    """How many runs were replayed, and what was wrong."""
    wrong = []
    for number, (name, (client, server)) in enumerate(RUNS.items()):
        draws = Draws(100 + number)
        train, test = softmax.data(draws)
        task = Network(train, test, softmax.SPLIT)
        keys = {"model": f"{{ mlp = {WIDTHS[1:-1]} }}", "init": '{ file = "start.safetensors" }'}
        text = softmax.scenario(client, server, keys)
        files = {"start.safetensors": written(task.start(draws), "F32")}
        if error := softmax.replay(program, text, train, test, task, files):
            wrong.append(f"network, {name}: {error}")
    return len(RUNS), wrong
