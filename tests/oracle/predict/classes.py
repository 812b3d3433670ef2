"""Softmax regression on samples of classes, in plain Python: weights by class, then a bias for each."""

import math

from .quadratic import norm


class Softmax:
    tensors = ["weight", "bias"]

    def __init__(self, train, test, split, classes):
        """`train` and `test` are pairs of a list of features and a label; `split` has samples by client."""
        self.train, self.test, self.split, self.classes = train, test, split, classes
        self.features = len(train[0][0])
        self.size = classes * (self.features + 1)
        self.shares = [len(samples) / sum(map(len, split)) for samples in split]

    def scores(self, x, features):
        """The logarithm of each class's chance."""
        width, biases = self.features, self.classes * self.features
        raw = [
            math.fsum(a * b for a, b in zip(x[width * k : width * (k + 1)], features)) + x[biases + k]
            for k in range(self.classes)
        ]
        top = max(raw)
        total = top + math.log(math.fsum(math.exp(value - top) for value in raw))
        return [value - total for value in raw]

    def gradient(self, client, x):
        """Of the mean loss over all samples of a client."""
        result, width = [0.0] * len(x), self.features
        for place in self.split[client]:
            features, label = self.train[place]
            for k, score in enumerate(self.scores(x, features)):
                slope = (math.exp(score) - (k == label)) / len(self.split[client])
                for j, value in enumerate(features):
                    result[width * k + j] += slope * value
                result[self.classes * width + k] += slope
        return result

    def metrics(self, x):
        gradients = [self.gradient(client, x) for client in range(len(self.shares))]
        mean = [math.fsum(p * g[j] for p, g in zip(self.shares, gradients)) for j in range(len(x))]
        tested = [(self.scores(x, features), label) for features, label in self.test]
        right = sum(scores.index(max(scores)) == label for scores, label in tested)
        used = [self.train[place] for samples in self.split for place in samples]
        return {
            "train_loss": -math.fsum(self.scores(x, features)[label] for features, label in used) / len(used),
            "grad_norm": norm(mean),
            "test_accuracy": right / len(tested),
            "test_loss": -math.fsum(scores[label] for scores, label in tested) / len(tested),
        }
