"""Gruppetto: federated learning on devices of very different speeds, simulated.

A scenario is a TOML file, its text, or a dict. ``run`` runs it and gives a ``Run``:

>>> import gruppetto as gp
>>> run = gp.run('''
... name = "two-speeds"
... stop.rounds = 5
... task.clients = 4
... client.work = { until = "deadline" }
... server.close = { deadline = "2s" }
... [[fleet.class]]
... name = "fast"
... step_time = "25ms"
... [[fleet.class]]
... name = "slow"
... step_time = "400ms"
... ''')
>>> run.summary["variants"][0]["rounds"]
5
>>> run.rounds["round"]
array([1, 2, 3, 4, 5], dtype=uint64)

What is not on the menu you bring yourself: a class behind ``@plugin("name")``, named in the scenario by
``{ plugin = "name" }``. In a notebook a run is shown as its report.
"""

import importlib
from typing import TYPE_CHECKING, Any

from ._native import RunError, ScenarioError, __version__
from ._results import Latency, Run, Table
from ._run import check, load, merge, run, theory
from .observer import Arrival, ClosedRound, Observer
from .plugins import Rng, plugin
from .policies import (
    Arrived,
    Closing,
    Feedback,
    Fleet,
    Opened,
    Round,
    Selector,
    Verdict,
    View,
    Work,
    WorkAsked,
)
from .server import Applied, Contribution, Held, ServerOptimizer, Sums, Weighting
from .training import Description, Job, LocalRun, Solver, Trainer

__all__ = [
    "Applied",
    "Arrival",
    "Arrived",
    "Closing",
    "ClosedRound",
    "Contribution",
    "Description",
    "Feedback",
    "Fleet",
    "Held",
    "Job",
    "Latency",
    "LocalRun",
    "Observer",
    "Opened",
    "Rng",
    "Round",
    "Run",
    "RunError",
    "ScenarioError",
    "Selector",
    "ServerOptimizer",
    "Solver",
    "Sums",
    "Table",
    "Trainer",
    "Verdict",
    "View",
    "Weighting",
    "Work",
    "WorkAsked",
    "__version__",
    "check",
    "load",
    "merge",
    "monitors",
    "partition",
    "plugin",
    "run",
    "theory",
    "torch",
]

if TYPE_CHECKING:
    from . import monitors, partition, torch


def __getattr__(name: str) -> Any:
    """Modules that are imported when they are first used: PyTorch takes seconds."""
    if name in ("monitors", "partition", "torch"):
        try:
            return importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            raise ImportError("gp.torch needs PyTorch, which is not installed: pip install torch") from None
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
