"""Local training of one client in one round, and its random numbers."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ..plugins import Column
from ..training import Job
from .batches import Batches
from .law import Steps

if TYPE_CHECKING:
    from ..torch import Task


class TorchRun:
    """Local training of one client in one round."""

    def __init__(self, task: Task, job: Job) -> None:
        task._park()
        self.task, self.client = task, job.client
        data = task.train[job.client]
        size = len(data) if task.batch is None else min(task.batch, len(data))
        self.order = Batches.order(len(data), size, task.seed, job.client, job.round)
        vector = task.vector()
        vector.load(job.x)
        vector.module.train()
        self.start = vector.snapshot()
        self.steps_of = Steps(vector, job.solver, job.correction, self.start, task.optimizer)
        self.parked: Any = None
        key = np.random.SeedSequence([task.seed, job.client, job.round]).generate_state(2, np.uint64)
        self.random = Randomness(int(key[0]), vector.device)
        task._current = self

    def steps(self, count: int) -> None:
        task, vector = self.task, self.task.vector()
        if task._current is not self:
            task._park()
            self.unpark()
        data, loss_of = task.train[self.client], task._loss_of
        with self.random:
            for rows in self.order.take(count):
                vector.zero_grad()
                torch.autograd.backward(loss_of(vector.module, data.batch(rows, vector.device)))
                self.steps_of.take()

    def change(self) -> Column:
        if self.task._current is not self:
            self.task._park()
            self.unpark()
        change = self.task.vector().change(self.start)
        self.task._current = None
        return change

    def leave(self) -> None:
        if self.task._current is self:
            self.task._current = None

    def park(self) -> None:
        """Another client's steps come in between: on the wall clock they do."""
        self.parked = self.task.vector().snapshot()

    def unpark(self) -> None:
        vector = self.task.vector()
        vector.restore(self.parked)
        vector.module.train()
        self.task._current = self


class Randomness:
    """Random numbers of one job, for whatever draws them: PyTorch, NumPy and Python. They depend on the job alone, and
    what others draw does not depend on them."""

    def __init__(self, key: int, device: torch.device) -> None:
        self.key, self.device = key, device
        self.states: tuple[Any, ...] | None = None

    def _get(self) -> tuple[Any, ...]:
        on_device = torch.cuda.get_rng_state(self.device) if self.device.type == "cuda" else None
        return torch.get_rng_state(), np.random.get_state(), random.getstate(), on_device

    def _set(self, states: tuple[Any, ...]) -> None:
        torch.set_rng_state(states[0])
        np.random.set_state(states[1])
        random.setstate(states[2])
        if states[3] is not None:
            torch.cuda.set_rng_state(states[3], self.device)

    def __enter__(self) -> None:
        self.others = self._get()
        if self.states is None:
            torch.manual_seed(self.key)
            np.random.seed(self.key % 2**32)
            random.seed(self.key)
        else:
            self._set(self.states)

    def __exit__(self, *_: object) -> None:
        self.states = self._get()
        self._set(self.others)


