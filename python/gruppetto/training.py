"""Models of your own: what a task says of itself, and how its clients train.

``Trainer`` is for any kind of model. For PyTorch there is ``gruppetto.torch.Task``, which is one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from .plugins import Column, Plugin, Rng, wrong


class Solver(NamedTuple):
    """The local update law of the scenario: G = g + λx + μ(x − x₀) + c, u = ρu + G, x = x − ηγᵏu."""

    lr: float
    """Learning rate η, with what ``client.lr_schedule`` and events make of it."""
    momentum: float
    prox: float
    lr_decay: float
    weight_decay: float


class Job(NamedTuple):
    """What a client is to train."""

    x: Column
    """The model it starts from; read-only."""
    client: int
    round: int
    solver: Solver
    correction: Column | None
    """What variance reduction adds to every gradient."""
    rng: Rng
    """Randomness of this client in this round."""
    version: int
    """The same number for the same ``x``."""


class LocalRun(Protocol):
    """Local training that has begun."""

    def steps(self, count: int) -> None:
        """Takes ``count`` local steps."""

    def change(self) -> Any:
        """Where it is minus where it began; of buffers, at the end, the values themselves."""


class Description(NamedTuple):
    """What a task is like: transfer times, weights and ``check`` follow from it."""

    parameters: int
    """What travels, buffers included."""
    samples: Sequence[int] = ()
    """Training samples of every client: their shares, and what an epoch is. Empty where a task has none."""
    metrics: Sequence[str] = ("train_loss",)
    """What is measured: train_loss, grad_norm, test_accuracy, test_loss, distance."""
    flops: tuple[float, float] = (0.0, 0.0)
    """Floating-point operations of a local step: in any case, and for every sample."""
    p: Sequence[float] | None = None
    """Shares of the clients; by samples unless given."""
    buffers: tuple[int, int] = (0, 0)
    """Parameters at the end that no gradient moves: averaged ones, then counters."""
    tensors: Sequence[tuple[str, Sequence[int]]] | None = None
    """Names and shapes, in the order of the vector, for the file of the model."""
    dtype: str = "float64"
    """``float32`` or ``float64``: in which ``x`` is handed over."""
    remarks: Sequence[str] = ()
    """What a reader of the results must know; ``summary.json``, the report and the terminal say it."""


class Trainer(Plugin):
    """What is trained? For ``[task] kind = { plugin = "name", … }``, or ``gp.run(…, task=trainer)``.

    With ``threads`` above 1 clients train in so many processes: the trainer is pickled (by cloudpickle, so classes and
    functions of a notebook travel), and everything it needs goes along.
    """

    kind: ClassVar[str] = "tasks"
    clients: int
    """How many clients there are, from the scenario."""
    seed: int
    """The seed of the run."""
    batch: int | None
    """Samples in a local step, from the scenario; ``None`` for all that a client has."""

    def describe(self) -> Description:
        """What the task is like, for ``self.clients``, ``self.seed`` and ``self.batch``."""
        raise NotImplementedError(f"{type(self).__name__} has no method describe")

    def start(self, seed: int) -> Any:
        """The model's starting point; zeros unless you say otherwise."""
        return np.zeros(self._known.parameters)

    def begin(self, job: Job) -> LocalRun:
        """A client's local training in one round: an object with ``steps(count)`` and ``change()``."""
        raise NotImplementedError(f"{type(self).__name__} has no method begin")

    evaluation_parts: int = 1
    """In how many parts an evaluation is made. Never by the number of threads: parts are summed in order."""

    def evaluate(self, x: Column, part: int) -> Mapping[str, tuple[float, float]]:
        """One part of an evaluation: for every metric a sum, and what it is to be divided by."""
        raise NotImplementedError(f"{type(self).__name__} has no method evaluate")

    def accumulation(self, solver: Solver, lr: float, tau: int) -> float | None:
        """‖a‖₁ of ``tau`` local steps relative to the learning rate ``lr``; ``None``: as the scenario's solver has it."""
        return None

    def close(self) -> None:
        """The run is over."""

    def __len__(self) -> int:
        """How many clients there are, for ``gp.run(…, task=trainer)``."""
        raise TypeError(f"{type(self).__name__} has no __len__, which says how many clients there are")

    _known: Description
    _workers: Any = None
    # In this process, one thing at a time.
    _own_lock: Any = contextlib.nullcontext()

    # What the simulator calls.

    def _describe(self, clients: int, seed: int, batch: int | None) -> dict[str, Any]:
        self.clients, self.seed, self.batch = clients, seed, batch
        self._known = known = self.describe()
        if known.dtype not in ("float32", "float64"):
            raise wrong(self, "describe", "dtype", known.dtype, "float32 or float64")
        if known.p is not None:
            p = np.asarray(known.p, dtype=np.float64)
        elif len(known.samples):
            p = np.asarray(known.samples, dtype=np.float64)
            p = p / p.sum()
        else:
            p = np.full(clients, 1.0 / clients)
        tensors = known.tensors or [("parameters", [known.parameters])]
        size = sum(int(np.prod(shape)) for _, shape in tensors)
        if size != known.parameters:
            raise wrong(self, "describe", "tensors", f"{size} numbers", f"{known.parameters}, as many as parameters")
        return {
            "parameters": int(known.parameters),
            "buffers": tuple(int(count) for count in known.buffers),
            "p": p.tolist(),
            "samples": [int(n) for n in known.samples],
            "flops": tuple(float(flops) for flops in known.flops),
            "metrics": list(known.metrics),
            "tensors": [(name, [int(side) for side in shape]) for name, shape in tensors],
            "single": known.dtype == "float32",
            "parts": max(1, int(self.evaluation_parts)),
            "remarks": list(known.remarks),
            "own_law": type(self).accumulation is not Trainer.accumulation,
        }

    def _numbers(self, values: Any) -> bytes:
        return np.ascontiguousarray(values, dtype=self._known.dtype).tobytes()

    def _start(self, seed: int) -> bytes:
        return self._numbers(self.start(seed))

    def _accumulation(self, solver: tuple[float, ...], lr: float, tau: int) -> float | None:
        return self.accumulation(Solver(*solver), lr, tau)

    def _begin(
        self,
        model: object,
        version: int,
        client: int,
        round: int,
        solver: tuple[float, ...],
        correction: object | None,
    ) -> _Run:
        extra = None if correction is None else np.asarray(correction)
        job = Job(np.asarray(model), client, round, Solver(*solver), extra, Rng((self.seed, client << 40 | round)), version)
        if self._workers is not None:
            return _Run(self, self._workers.begin(self, job), contextlib.nullcontext())
        with self._own_lock:
            return _Run(self, self.begin(job), self._own_lock)

    def _evaluate(self, model: object, version: int, part: int) -> list[float]:
        x = np.asarray(model)
        if self._workers is not None:
            sums: list[float] = self._workers.evaluate(self, x, version, part)
            return sums
        with self._own_lock:
            return self._parts(x, part)

    def _parts(self, x: Column, part: int) -> list[float]:
        found = self.evaluate(x, part)
        sums = [float(number) for metric in self._known.metrics for number in found.get(metric, (np.nan, 1.0))]
        odd = set(found) - set(self._known.metrics)
        if odd:
            raise wrong(self, "evaluate", f"part {part}", sorted(odd), f"metrics of describe: {list(self._known.metrics)}")
        return sums

    def _measured(self, sums: Sequence[float]) -> list[tuple[str, float]]:
        pairs = zip(self._known.metrics, sums[::2], sums[1::2])
        return [(name, value / count if count else float("nan")) for name, value, count in pairs]

    def __getstate__(self) -> dict[str, Any]:
        # Its processes stay here.
        return {name: value for name, value in self.__dict__.items() if name not in ("_workers", "_own_lock")}


class _Run:
    """A local run, as the simulator calls it."""

    __slots__ = ("_lock", "_run", "_trainer")

    def __init__(self, trainer: Trainer, run: LocalRun, lock: Any) -> None:
        self._trainer, self._run, self._lock = trainer, run, lock

    def steps(self, count: int) -> None:
        with self._lock:
            self._run.steps(count)

    def _change(self) -> bytes:
        with self._lock:
            change = self._run.change()
        return change if isinstance(change, bytes) else self._trainer._numbers(change)

    def _leave(self) -> None:
        leave = getattr(self._run, "leave", None)
        if leave is not None:
            with self._lock:
                leave()

