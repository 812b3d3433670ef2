"""F_i(x) = ½ xᵀH_i x − e_iᵀx + ½ e_iᵀH_i⁻¹e_i, and what is measured of F = Σ p_i F_i."""

import math


class Quadratic:
    tensors = ["x"]

    def __init__(self, task, dim):
        self.centers = task["centers"]
        clients = len(self.centers)
        curvature = task.get("curvature", "identity")
        if curvature == "identity":
            curvature = [[1.0] * dim] * clients
        self.curvature = curvature
        shares = task.get("weights", "equal")
        self.shares = [1 / clients] * clients if shares == "equal" else shares
        self.matrices = [matrix(it) for it in curvature]
        minima = [solve(h, e) for h, e in zip(self.matrices, self.centers)]
        self.constants = [0.5 * dot(e, y) for e, y in zip(self.centers, minima)]
        mean = lambda i, j: math.fsum(p * h[i][j] for p, h in zip(self.shares, self.matrices))
        total = [[mean(i, j) for j in range(dim)] for i in range(dim)]
        pull = [math.fsum(p * e[j] for p, e in zip(self.shares, self.centers)) for j in range(dim)]
        self.optimum = solve(total, pull)

    def gradient(self, client, x):
        return [dot(row, x) - e for row, e in zip(self.matrices[client], self.centers[client])]

    def metrics(self, x):
        gradients = [self.gradient(client, x) for client in range(len(self.shares))]
        mean = [math.fsum(p * g[j] for p, g in zip(self.shares, gradients)) for j in range(len(x))]
        losses = [self.loss(client, x) for client in range(len(self.shares))]
        return {
            "train_loss": math.fsum(p * loss for p, loss in zip(self.shares, losses)),
            "grad_norm": norm(mean),
            "distance": norm([a - b for a, b in zip(x, self.optimum)]),
        }

    def loss(self, client, x):
        bent = [dot(row, x) for row in self.matrices[client]]
        return 0.5 * dot(x, bent) - dot(self.centers[client], x) + self.constants[client]


def apart(task, x, weights):
    """κ² and β² of Assumption 3 at a model, with weights that sum to 1."""
    gradients = [task.gradient(client, x) for client in range(len(task.shares))]
    mean = [math.fsum(w * g[j] for w, g in zip(weights, gradients)) for j in range(len(x))]
    kappa2 = math.fsum(w * norm([a - b for a, b in zip(g, mean)]) ** 2 for w, g in zip(weights, gradients))
    return kappa2, math.fsum(w * norm(g) ** 2 for w, g in zip(weights, gradients)) / norm(mean) ** 2


def matrix(curvature):
    if isinstance(curvature[0], list):
        return curvature
    return [[value if i == j else 0.0 for j in range(len(curvature))] for i, value in enumerate(curvature)]


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def norm(vector):
    return math.sqrt(dot(vector, vector))


def solve(rows, right):
    """Gaussian elimination with the largest pivot."""
    rows = [list(row) + [value] for row, value in zip(rows, right)]
    size = len(rows)
    for column in range(size):
        pivot = max(range(column, size), key=lambda row: abs(rows[row][column]))
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(column + 1, size):
            factor = rows[row][column] / rows[column][column]
            for j in range(column, size + 1):
                rows[row][j] -= factor * rows[column][j]
    solution = [0.0] * size
    for row in reversed(range(size)):
        known = math.fsum(rows[row][j] * solution[j] for j in range(row + 1, size))
        solution[row] = (rows[row][size] - known) / rows[row][row]
    return solution
