"""Observers that write to what people watch runs with. Each needs its own package: ``pip install gruppetto[wandb]``,
``[mlflow]`` or ``[tensorboard]``.

The step is the round; simulated seconds are logged beside every value, and ``simulated_seconds`` can be the x axis.
"""

from __future__ import annotations

from typing import Any

from .observer import ClosedRound, Observer


def _package(name: str, extra: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise ImportError(f"{name} is not installed: pip install {name}, or pip install 'gruppetto[{extra}]'") from None


def _values(round: ClosedRound) -> dict[str, float]:
    """What is known of a round, by name."""
    values = {
        "simulated_seconds": round.seconds,
        "asked": round.asked,
        "arrived": round.arrived,
        "tau_min": round.tau[0],
        "tau_mean": round.tau[1],
        "tau_max": round.tau[2],
        "tau_eff": round.tau_eff,
        "chi2": round.chi2,
        "missing_mass": round.missing_mass,
        **(round.metrics or {}),
    }
    return {name: float(value) for name, value in values.items() if value == value}


class WeightsAndBiases(Observer):
    """Weights & Biases: a run of theirs for every cell. What is given goes to ``wandb.init``."""

    def __init__(self, project: str = "gruppetto", **settings: Any) -> None:
        self.wandb = _package("wandb", "wandb")
        self.settings = {"project": project, **settings}
        self.run: Any = None

    def begin(self) -> bool:
        name = f"{self.variant}-{self.seed}"
        config = {"variant": self.variant, "seed": self.seed, **self.settings.get("config", {})}
        self.run = self.wandb.init(**{**self.settings, "name": name, "config": config, "reinit": "finish_previous"})
        self.run.define_metric("*", step_metric="simulated_seconds")
        return True

    def started(self, metrics: dict[str, float]) -> None:
        self.run.log({"simulated_seconds": 0.0, **metrics}, step=0)

    def closed(self, round: ClosedRound) -> None:
        self.run.log(_values(round), step=round.round)

    def ended(self, seconds: float) -> None:
        self.run.finish()


class MLflow(Observer):
    """MLflow: a run of theirs for every cell, in the experiment that is named."""

    def __init__(self, experiment: str = "gruppetto", tracking_uri: str | None = None) -> None:
        self.client = _package("mlflow", "mlflow").MlflowClient(tracking_uri=tracking_uri)
        found = self.client.get_experiment_by_name(experiment)
        self.experiment = found.experiment_id if found else self.client.create_experiment(experiment)
        self.run = ""

    def begin(self) -> bool:
        run = self.client.create_run(self.experiment, run_name=f"{self.variant}-{self.seed}")
        self.run = run.info.run_id
        self.client.log_param(self.run, "variant", self.variant)
        self.client.log_param(self.run, "seed", self.seed)
        return True

    def _log(self, values: dict[str, float], step: int) -> None:
        for name, value in values.items():
            self.client.log_metric(self.run, name, value, step=step)

    def started(self, metrics: dict[str, float]) -> None:
        self._log({"simulated_seconds": 0.0, **metrics}, 0)

    def closed(self, round: ClosedRound) -> None:
        self._log(_values(round), round.round)

    def ended(self, seconds: float) -> None:
        self.client.set_terminated(self.run)


class TensorBoard(Observer):
    """TensorBoard: a folder for every cell below ``folder``. The wall time of an event is its simulated time."""

    def __init__(self, folder: str = "runs/tensorboard") -> None:
        self.make = _package("tensorboardX", "tensorboard").SummaryWriter
        self.folder = folder
        self.writer: Any = None

    def begin(self) -> bool:
        self.writer = self.make(f"{self.folder}/{self.variant}-{self.seed}")
        return True

    def started(self, metrics: dict[str, float]) -> None:
        for name, value in metrics.items():
            self.writer.add_scalar(name, value, 0, walltime=0.0)

    def closed(self, round: ClosedRound) -> None:
        for name, value in _values(round).items():
            self.writer.add_scalar(name, value, round.round, walltime=round.seconds)

    def ended(self, seconds: float) -> None:
        self.writer.close()
