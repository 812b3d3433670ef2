"""What users write, with types: mypy --strict and pyright find nothing wrong with it."""

import gruppetto as gp
import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.utils.data import TensorDataset


@gp.plugin("fastest-first")
class FastestFirst(gp.Selector):
    def __init__(self, exploration: float = 0.2) -> None:
        self.exploration = exploration
        self.taus: dict[int, int] = {}

    def select(self, view: gp.View, rng: gp.Rng) -> npt.NDArray[np.intp]:
        took = np.where(view.available, view.last_duration, np.inf)
        explored = rng.permutation(np.flatnonzero(np.isnan(took)))[: round(self.exploration * view.wanted)]
        known: npt.NDArray[np.intp] = np.argsort(took, kind="stable")
        chosen: npt.NDArray[np.intp] = np.concatenate([explored, known[np.isfinite(took[known])]])
        return chosen[: view.wanted]

    def heard(self, feedback: gp.Feedback) -> None:
        self.taus[feedback.client] = feedback.tau


@gp.plugin("patient")
class Patient(gp.Closing):
    deadline = True

    def opened(self, round: gp.Round) -> gp.Opened:
        return gp.Opened(deadline=2.0 * round.round)

    def arrived(self, update: gp.Arrived) -> gp.Verdict:
        return gp.Verdict(counts=0.5 if update.staleness else 1.0)


@gp.plugin("by-steps")
class BySteps(gp.Weighting):
    def weigh(self, update: gp.Contribution) -> float:
        return update.p * update.tau


@gp.plugin("half")
class Half(gp.ServerOptimizer):
    def apply(
        self,
        x: npt.NDArray[np.float64],
        direction: npt.NDArray[np.float64],
        factor: float,
        applied: gp.Applied,
        client_lr: float,
        updates: list[gp.Held],
    ) -> None:
        x += 0.5 * factor * direction


class Prints(gp.Observer):
    def closed(self, round: gp.ClosedRound) -> None:
        print(round.round, round.seconds, (round.metrics or {}).get("train_loss"))


def make_model() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 2))


def main() -> None:
    y = np.array([0, 1] * 50)
    train = TensorDataset(torch.randn(100, 4), torch.from_numpy(y))
    task = gp.torch.Task(model=make_model, train=train, clients=gp.partition.iid(100, clients=5), test=train)
    scenario = {"name": "typed", "stop": {"rounds": 2}, "client": {"work": {"steps": 3}}}
    run = gp.run(scenario, task=task, plugins=[FastestFirst], observers=[Prints()], set={"client.lr": 0.1}, threads=1)
    accuracy: float = run.rounds["test_accuracy"][-1]
    p99: float = run.latency("upload").percentile(99)
    shapes = {name: value.shape for name, value in run.model().items()}
    print(accuracy, p99, shapes, run.summary["status"], gp.check(scenario), gp.theory(scenario), gp.load(run.path).report)


if __name__ == "__main__":
    main()
