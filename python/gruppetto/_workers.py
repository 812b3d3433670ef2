"""Processes that train: one job at a time each, one thread of PyTorch each.

::

    simulator's thread ── begin, steps, change ──► Worker ── pipe ──► a process with a copy of the trainer

A process keeps the models it was sent last, so a model travels once for all clients of a round that it trains. What is
computed does not depend on who computes it: a job is seeded by its own key.
"""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
import threading
import warnings
from collections import OrderedDict
from typing import IO, TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .plugins import Column
    from .training import Job, Trainer

#: Models that a process keeps.
KEPT = 4
_HEAD = struct.Struct("<QQ")


def send(pipe: IO[bytes], message: Any, numbers: bytes | memoryview = b"") -> None:
    """Writes a message, and numbers behind it as they are."""
    head = pickle.dumps(message, protocol=5)
    pipe.write(_HEAD.pack(len(head), len(numbers)))
    pipe.write(head)
    if len(numbers):
        pipe.write(numbers)
    pipe.flush()


def receive(pipe: IO[bytes]) -> tuple[Any, bytes]:
    """Reads a message and its numbers. ``EOFError`` if the other side is gone."""
    head = pipe.read(_HEAD.size)
    if len(head) < _HEAD.size:
        raise EOFError
    message, numbers = _HEAD.unpack(head)
    body = pipe.read(message)
    rest = pipe.read(numbers)
    if len(body) < message or len(rest) < numbers:
        raise EOFError
    return pickle.loads(body), rest


class Worker:
    """A process, as this one sees it."""

    def __init__(self, trainer: Trainer, pickled: bytes) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        code = "from gruppetto._workers import main; main()"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        self.lock = threading.Lock()
        self.open = 0
        self.models: OrderedDict[int, None] = OrderedDict()
        assert self.process.stdin is not None and self.process.stdout is not None
        self.to, self.back = self.process.stdin, self.process.stdout
        send(self.to, (sys.path, trainer.clients, trainer.seed, trainer.batch), pickled)

    def ask(self, message: Any, numbers: bytes | memoryview = b"") -> tuple[Any, bytes]:
        """Sends a request and waits for the answer; what was raised there is raised here."""
        try:
            send(self.to, message, numbers)
            answer, rest = receive(self.back)
        except (EOFError, BrokenPipeError, OSError):
            code = self.process.wait()
            raise RuntimeError(
                f"a process that trains clients ended with exit code {code}; "
                "if the memory is full, run with fewer threads"
            ) from None
        if isinstance(answer, Raised):
            raise answer.error()
        return answer, rest

    def knows(self, version: int) -> bool:
        """Whether the process has a model; from now on it does."""
        known = version in self.models
        self.models[version] = None
        self.models.move_to_end(version)
        while len(self.models) > KEPT:
            self.models.popitem(last=False)
        return known

    def end(self) -> None:
        """Ends the process."""
        try:
            self.to.close()
            self.process.wait(timeout=2)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.back.close()


class Raised:
    """An exception of a process, with its traceback as text."""

    def __init__(self, error: BaseException) -> None:
        import traceback

        self.text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        try:
            self.pickled: bytes | None = _cloudpickle().dumps(error.with_traceback(None))
        except Exception:
            self.pickled = None

    def error(self) -> BaseException:
        try:
            error = pickle.loads(self.pickled) if self.pickled else None
        except Exception:
            error = None
        if not isinstance(error, BaseException):
            return RuntimeError(f"a process that trains clients failed:\n{self.text}")
        error.__cause__ = RuntimeError(f"in a process that trains clients:\n{self.text}")
        return error


def _cloudpickle() -> Any:
    try:
        import cloudpickle
    except ImportError:
        raise ImportError(
            "threads above 1 train in processes, which needs cloudpickle: pip install cloudpickle, or threads=1"
        ) from None
    return cloudpickle


class Workers:
    """So many processes for every trainer of a run."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.lock = threading.Lock()
        self.of: dict[int, tuple[Trainer, list[Worker]]] = {}

    def _worker(self, trainer: Trainer) -> Worker:
        with self.lock:
            if id(trainer) not in self.of:
                # Runs come one after the other: the processes of the last one have nothing to do any more.
                for _, workers in self.of.values():
                    for worker in workers:
                        worker.end()
                self.of.clear()
                pickled = _cloudpickle().dumps(trainer)
                self.of[id(trainer)] = trainer, [Worker(trainer, pickled) for _ in range(self.count)]
            worker = min(self.of[id(trainer)][1], key=lambda worker: worker.open)
            worker.open += 1
            return worker

    def begin(self, trainer: Trainer, job: Job) -> RemoteRun:
        """Begins local training in a process that has the least to do."""
        worker = self._worker(trainer)
        correction = None if job.correction is None else job.correction.tobytes()
        told = (job.client, job.round, tuple(job.solver), correction)
        with worker.lock:
            number, _ = worker.ask(("begin", job.version, told), _unless(worker.knows(job.version), job.x))
        return RemoteRun(self, worker, number)

    def evaluate(self, trainer: Trainer, x: Column, version: int, part: int) -> list[float]:
        """Evaluates a part."""
        worker = self._worker(trainer)
        try:
            with worker.lock:
                sums: list[float] = worker.ask(("evaluate", version, part), _unless(worker.knows(version), x))[0]
                return sums
        finally:
            self.free(worker)

    def free(self, worker: Worker) -> None:
        """A process has one thing less to do."""
        with self.lock:
            worker.open -= 1

    def close(self) -> None:
        """Ends all processes."""
        for trainer, workers in self.of.values():
            trainer._workers = None
            for worker in workers:
                worker.end()
        self.of.clear()


def _unless(known: bool, x: Column) -> memoryview | bytes:
    return b"" if known else np.ascontiguousarray(x).data.cast("B")


class RemoteRun:
    """Local training in another process."""

    def __init__(self, workers: Workers, worker: Worker, number: int) -> None:
        self.workers, self.worker, self.number = workers, worker, number

    def steps(self, count: int) -> None:
        with self.worker.lock:
            self.worker.ask(("steps", self.number, count))

    def change(self) -> bytes:
        with self.worker.lock:
            numbers = self.worker.ask(("change", self.number))[1]
        self.workers.free(self.worker)
        return numbers

    def leave(self) -> None:
        with self.worker.lock:
            self.worker.ask(("leave", self.number))
        self.workers.free(self.worker)


class _Served:
    """The trainer of a process, and what it has begun."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        self.models: OrderedDict[int, Column] = OrderedDict()
        self.runs: dict[int, Any] = {}
        self.begun = 0

    def model(self, version: int, numbers: bytes) -> Column:
        if numbers:
            self.models[version] = np.frombuffer(numbers, dtype=self.trainer._known.dtype)
        self.models.move_to_end(version)
        while len(self.models) > KEPT:
            self.models.popitem(last=False)
        return self.models[version]

    def begin(self, numbers: bytes, version: int, told: tuple[Any, ...]) -> tuple[Any, bytes]:
        client, round, solver, correction = told
        extra = None if correction is None else np.frombuffer(correction)
        model = self.model(version, numbers)
        self.begun += 1
        self.runs[self.begun] = self.trainer._begin(model, version, client, round, solver, extra)
        return self.begun, b""

    def steps(self, _: bytes, number: int, count: int) -> tuple[Any, bytes]:
        self.runs[number].steps(count)
        return None, b""

    def change(self, _: bytes, number: int) -> tuple[Any, bytes]:
        return None, self.runs.pop(number)._change()

    def leave(self, _: bytes, number: int) -> tuple[Any, bytes]:
        self.runs.pop(number)._leave()
        return None, b""

    def evaluate(self, numbers: bytes, version: int, part: int) -> tuple[Any, bytes]:
        return self.trainer._parts(self.model(version, numbers), part), b""


def main() -> None:
    """What a process does: it answers until its pipe is closed."""
    import signal

    # Ctrl-C is for the process that simulates; it ends this one when it is done.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, answers = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    # What hooks print is for people.
    os.dup2(2, 1)
    (path, clients, seed, batch), pickled = receive(source)
    sys.path[:] = path
    served: _Served | None = None
    failed: Raised | None = None
    try:
        trainer = pickle.loads(pickled)
        with warnings.catch_warnings():
            # Said once, where the run is.
            warnings.simplefilter("ignore")
            trainer._describe(clients, seed, batch)
        served = _Served(trainer)
    except Exception as error:
        failed = Raised(error)
    while True:
        try:
            (what, *told), numbers = receive(source)
        except EOFError:
            return
        try:
            answer, rest = (failed, b"") if served is None else getattr(served, what)(numbers, *told)
        except Exception as error:
            answer, rest = Raised(error), b""
        send(answers, answer, rest)
