"""The training loop that a careful user of PyTorch writes: the comparison for client training.

Batches of 32 random samples out of 60,000 in memory, SGD, cross-entropy, float32, one thread.
Prints the samples per second, the median of five repeats after a warm-up.
"""
import argparse
import statistics
import sys
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--model", choices=["mlp", "cnn"], default="mlp")
parser.add_argument("--seconds", type=float, default=2.0, help="of each repeat")
parser.add_argument("--warm-up", type=float, default=3.0, help="seconds")
options = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(1)
SAMPLES, BATCH = 60_000, 32
x, y = torch.rand(SAMPLES, 784), torch.randint(10, (SAMPLES,))
if options.model == "mlp":
    net = nn.Sequential(nn.Linear(784, 200), nn.ReLU(), nn.Linear(200, 10))
else:
    x = x.view(SAMPLES, 1, 28, 28)
    net = nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 10))
optimizer, loss_of = torch.optim.SGD(net.parameters(), lr=0.02), nn.CrossEntropyLoss()


def rate(seconds):
    seen, start = 0, time.perf_counter()
    while True:
        for batch in torch.randperm(SAMPLES).split(BATCH):
            optimizer.zero_grad()
            loss_of(net(x[batch]), y[batch]).backward()
            optimizer.step()
            seen += len(batch)
            if (passed := time.perf_counter() - start) >= seconds:
                return seen / passed

rate(options.warm_up)
median = statistics.median(rate(options.seconds) for _ in range(5))
if not all(p.isfinite().all() for p in net.parameters()):
    sys.exit("the training went wrong")
print(f"{median:.0f}")
