"""Softmax-regression SGD in NumPy: the comparison for the native kernel.

The same arithmetic on the same shapes: 60 features and a bias, 10 classes,
batches of 20 random samples out of 500, float32, updates in place, one thread.
Prints the steps per second of the fastest of several rounds. With the argument
"tuned" the loop is the fastest we could write, at the price of its clarity.
"""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import sys
import time

import numpy as np

FEATURES, CLASSES, BATCH, SAMPLES = 60, 10, 20, 500
STEPS, ROUNDS, LR = 5000, 7, 0.05


def plain(w, x, y, batches):
    """What a careful NumPy user writes."""
    rate = np.float32(LR / BATCH)
    rows = np.arange(BATCH)
    for batch in batches:
        xb = x[batch]
        z = xb @ w
        z -= z.max(axis=1, keepdims=True)
        np.exp(z, out=z)
        z /= z.sum(axis=1, keepdims=True)
        z[rows, y[batch]] -= 1
        z *= rate
        w -= xb.T @ z


def tuned(w, x, y, batches):
    """Nothing is allocated in the loop and no keyword is parsed."""
    onehot = np.eye(CLASSES, dtype=np.float32)[y]
    xb = np.empty((BATCH, FEATURES + 1), np.float32)
    yb = np.empty((BATCH, CLASSES), np.float32)
    z = np.empty((BATCH, CLASSES), np.float32)
    row = np.empty((BATCH, 1), np.float32)
    g = np.empty_like(w)
    xbt = xb.T
    rate = np.float32(LR / BATCH)
    take, matmul, exp = np.take, np.matmul, np.exp
    largest, total = np.maximum.reduce, np.add.reduce
    for batch in batches:
        take(x, batch, 0, xb, "clip")
        take(onehot, batch, 0, yb, "clip")
        matmul(xb, w, z)
        z -= largest(z, 1, None, row, True)
        exp(z, z)
        z /= total(z, 1, None, row, True)
        z -= yb
        z *= rate
        w -= matmul(xbt, z, g)


def main():
    train = tuned if sys.argv[1:] == ["tuned"] else plain
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, (SAMPLES, FEATURES + 1)).astype(np.float32)
    x[:, -1] = 1
    y = rng.integers(0, CLASSES, SAMPLES)
    batches = list(rng.integers(0, SAMPLES, (STEPS, BATCH)))
    best = 0.0
    for _ in range(ROUNDS):
        w = np.zeros((FEATURES + 1, CLASSES), np.float32)
        start = time.perf_counter()
        train(w, x, y, batches)
        best = max(best, STEPS / (time.perf_counter() - start))
        if not np.isfinite(w).all() or not w.any():
            sys.exit("the training went wrong")
    print(f"{best:.0f}")


if __name__ == "__main__":
    main()
