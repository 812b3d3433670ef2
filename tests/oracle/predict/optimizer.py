"""What the server does with δ, the aggregated update (docs/scenario.md, `optimizer`)."""

import math


class Optimizer:
    def __init__(self, keys, size):
        self.kind = keys["kind"]
        self.lr = keys.get("lr", 1.0 if self.kind in ("sgd", "momentum") else 0.01)
        self.beta = keys.get("momentum", 0.9)
        self.beta1 = keys.get("beta1", 0.0 if self.kind == "adagrad" else 0.9)
        self.beta2 = keys.get("beta2", 0.99)
        self.epsilon = keys.get("epsilon", 0.001)
        self.u, self.m = [0.0] * size, [0.0] * size
        self.v = [self.epsilon**2] * size

    def move(self, x, delta, eta):
        """The new model; η is the clients' rate of the round."""
        if self.kind == "sgd":
            return [value + self.lr * d for value, d in zip(x, delta)]
        if self.kind == "momentum":
            self.u = [self.beta * u - d / eta for u, d in zip(self.u, delta)]
            return [value - self.lr * eta * u for value, u in zip(x, self.u)]
        self.m = [self.beta1 * m + (1 - self.beta1) * d for m, d in zip(self.m, delta)]
        self.v = [self.second(v, d * d) for v, d in zip(self.v, delta)]
        return [value + self.lr * m / (math.sqrt(v) + self.epsilon) for value, m, v in zip(x, self.m, self.v)]

    def second(self, v, square):
        if self.kind == "adam":
            return self.beta2 * v + (1 - self.beta2) * square
        if self.kind == "yogi":
            return v - (1 - self.beta2) * square * ((v > square) - (v < square))
        return v + square
