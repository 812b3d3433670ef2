"""Any PyTorch model, on any data, under any deadline.

::

    task = gp.torch.Task(model=make_model, train=[dataset_of_client_0, …], test=test_set)
    gp.run(scenario, task=task)

The simulator decides how many local steps a client takes; PyTorch takes them. Local steps follow the law of the scenario
(learning rate, momentum, proximal term, decay, weight decay, variance reduction), so ‖a‖₁ is known and FedNova is exact.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from ._torch.batches import as_batches
from ._torch.law import law_of, probed
from ._torch.model import called, one_number, right, split
from ._torch.run import TorchRun
from ._torch.vector import ModelVector
from .plugins import Column
from .training import Description, Job, Solver, Trainer

__all__ = ["Task"]

Loss = Callable[[Any, Any], torch.Tensor]


class Task(Trainer):
    """A PyTorch model that clients train.

    :param model: makes the ``nn.Module``. It is called after ``torch.manual_seed(seed)``.
    :param train: a dataset for every client; or one dataset, and ``clients``.
    :param clients: for one dataset, the indices of every client, as ``gp.partition`` gives them.
    :param test: a dataset that the model is tested with.
    :param loss: ``loss(output, target)``, the mean over a batch; cross entropy unless given.
    :param step: ``step(model, batch)`` gives the loss of a batch, for models that are not called with inputs alone.
    :param metric: ``metric(output, target)`` gives how many of a batch are right; by the largest output unless given,
        ``None`` for no accuracy.
    :param collate: makes a batch of a list of samples, as in a ``DataLoader``.
    :param device: ``"auto"`` for a GPU if there is one, else the processor; or anything that PyTorch knows.
    :param optimizer: ``optimizer(model, lr)`` makes an optimiser of your own for every local round. One that is linear
        in its gradients (SGD with momentum, Nesterov) gets its ‖a‖₁ by trying it on a constant gradient; another (Adam)
        is normalised by τ, and you are told.
    :param train_loss: whether the loss on all training data is measured too; by default if there is no test data.
    :param evaluation_batch: samples that are evaluated at a time.
    :param flops: floating-point operations of a local step for a sample; 6 for every parameter unless given.
    :param threads: threads of PyTorch in one process. Other numbers may give other bits.
    """

    def __init__(
        self,
        model: Callable[[], nn.Module],
        train: Any,
        test: Any = None,
        loss: Loss | None = None,
        *,
        clients: Sequence[Any] | None = None,
        step: Callable[[nn.Module, Any], torch.Tensor] | None = None,
        metric: Callable[[Any, Any], Any] | None | str = "auto",
        collate: Callable[[list[Any]], Any] | None = None,
        device: str | torch.device = "auto",
        optimizer: Callable[[nn.Module, float], torch.optim.Optimizer] | None = None,
        train_loss: bool | None = None,
        evaluation_batch: int = 512,
        flops: float | None = None,
        threads: int = 1,
    ) -> None:
        self.make_model, self.step, self.metric, self.device_name = model, step, metric, str(device)
        self.loss: Loss = nn.functional.cross_entropy if loss is None else loss
        self.optimizer, self.evaluation_batch, self.flops, self.threads = optimizer, evaluation_batch, flops, threads
        self.train = as_batches(train, clients, collate)
        self.test = None if test is None else as_batches([test], None, collate)[0]
        self.train_loss = test is None if train_loss is None else train_loss
        self._begin_state()

    def _begin_state(self) -> None:
        self._vector: ModelVector | None = None
        self._current: TorchRun | None = None
        self._is_linear = True
        self._threads_before: int | None = None
        self._taus: dict[tuple[float, float], list[float]] = {}

    def __len__(self) -> int:
        """How many clients there are."""
        return len(self.train)

    def __getstate__(self) -> dict[str, Any]:
        # A process makes its own model.
        made = ("_workers", "_own_lock", "_vector", "_current", "_is_linear", "_threads_before", "_taus")
        return {name: value for name, value in self.__dict__.items() if name not in made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin_state()

    # What the model is like.

    def vector(self) -> ModelVector:
        """The model of this process, with its parameters in one vector."""
        if self._vector is None:
            self._threads_before = torch.get_num_threads()
            torch.set_num_threads(self.threads)
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(self.seed)
                self._vector = ModelVector(self.make_model(), self._device())
        return self._vector

    def _device(self) -> torch.device:
        if self.device_name != "auto":
            return torch.device(self.device_name)
        if torch.cuda.is_available():
            return torch.device("cuda")
        mps = getattr(torch.backends, "mps", None)
        return torch.device("mps" if mps is not None and mps.is_available() else "cpu")

    def describe(self) -> Description:
        if self.clients != len(self.train):
            raise ValueError(f"the scenario has {self.clients} clients, and the task has data of {len(self.train)}")
        samples = [len(own) for own in self.train]
        empty = [client for client, count in enumerate(samples) if count == 0]
        if empty:
            raise ValueError(f"client {empty[0]} has no samples: every client needs at least one")
        vector = self.vector()
        metrics = ["train_loss"] if self.train_loss else []
        if self.test is not None:
            metrics += [name for name in ("test_accuracy", "test_loss") if name != "test_accuracy" or self.metric]
        self._plan_evaluation(samples)
        remark = self._look_at_optimizer()
        flops = 6.0 * vector.weights if self.flops is None else self.flops
        return Description(
            parameters=vector.size,
            samples=samples,
            metrics=metrics,
            flops=(0.0, flops),
            buffers=vector.buffers,
            tensors=vector.tensors,
            dtype=vector.dtype,
            remarks=[] if remark is None else [remark],
        )

    def _look_at_optimizer(self) -> str | None:
        """Whether ‖a‖₁ is known; a remark if it is not."""
        if self.optimizer is None:
            return None
        reason = law_of(self.optimizer, self.vector().module)
        self._is_linear = reason is None
        if reason is None:
            return None
        remark = f"client updates are normalised by τ: {reason}"
        warnings.warn(remark, RuntimeWarning, stacklevel=2)
        return remark

    def start(self, seed: int) -> Column:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return ModelVector(self.make_model(), torch.device("cpu")).numbers()

    def accumulation(self, solver: Solver, lr: float, tau: int) -> float | None:
        if self.optimizer is None:
            return None
        if not self._is_linear:
            return float(tau)
        known = self._taus.setdefault((solver.lr, lr), [])
        if len(known) < tau:
            known[:] = probed(self.optimizer, self.vector().module, solver.lr, max(tau, 2 * len(known)))
        return known[tau - 1] * solver.lr / lr

    # Training.

    def begin(self, job: Job) -> TorchRun:
        if self.optimizer is not None:
            foreign = [name for name in ("momentum", "prox", "weight_decay") if getattr(job.solver, name)]
            foreign += ["lr_decay"] if job.solver.lr_decay != 1.0 else []
            if foreign:
                raise ValueError(
                    f"the task has an optimizer of its own, so client.{foreign[0]} of the scenario has no effect: "
                    "take it out there, or leave out optimizer="
                )
        return TorchRun(self, job)

    def _loss_of(self, model: nn.Module, batch: Any) -> torch.Tensor:
        if self.step is not None:
            return one_number("step", self.step(model, batch))
        inputs, target = split(batch)
        return one_number("loss", self.loss(called(model, inputs), target))

    # Evaluation.

    def _plan_evaluation(self, samples: Sequence[int]) -> None:
        size = self.evaluation_batch
        plan: list[tuple[int, int]] = []
        if self.test is not None:
            plan += [(-1, begin) for begin in range(0, len(self.test), size)]
        if self.train_loss:
            plan += [(client, begin) for client, count in enumerate(samples) for begin in range(0, count, size)]
        self._plan = plan
        # Small batches go together: a part costs a call.
        self.evaluation_parts = max(1, min(len(plan), 64))

    def evaluate(self, x: Column, part: int) -> Mapping[str, tuple[float, float]]:
        vector = self.vector()
        self._park()
        vector.load(x)
        vector.module.eval()
        sums = {name: [0.0, 0.0] for name in ("train_loss", "test_loss", "test_accuracy")}
        with torch.no_grad():
            for client, begin in self._plan[part :: self.evaluation_parts]:
                data = self.test if client < 0 else self.train[client]
                assert data is not None
                count = min(self.evaluation_batch, len(data) - begin)
                batch = data.batch(np.arange(begin, begin + count), vector.device)
                self._measure(vector.module, batch, count, client < 0, sums)
        wanted = ["train_loss"] if self.train_loss else []
        if self.test is not None:
            wanted += ["test_loss"] + (["test_accuracy"] if self.metric else [])
        return {name: (sums[name][0], sums[name][1]) for name in wanted}

    def _measure(self, model: nn.Module, batch: Any, count: int, is_test: bool, sums: dict[str, list[float]]) -> None:
        def add(name: str, value: Any) -> None:
            sums[name][0] += float(value)
            sums[name][1] += count

        metric = (self.metric if callable(self.metric) else right) if is_test and self.metric else None
        output = target = None
        if self.step is None or metric is not None:
            inputs, target = split(batch)
            output = called(model, inputs)
        loss = self.step(model, batch) if self.step is not None else self.loss(output, target)
        add("test_loss" if is_test else "train_loss", one_number("loss", loss) * count)
        if metric is not None:
            add("test_accuracy", metric(output, target))

    def _park(self) -> None:
        if self._current is not None:
            self._current.park()
            self._current = None

    def close(self) -> None:
        if self._threads_before is not None:
            torch.set_num_threads(self._threads_before)
        self._begin_state()
