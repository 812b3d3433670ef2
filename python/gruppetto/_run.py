"""Running scenarios."""

from __future__ import annotations

import contextlib
import copy
import json
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _native, _toml, plugins as _plugins
from ._progress import bar
from ._results import Run
from ._workers import Workers
from .observer import Observer
from .training import Trainer

Scenario = str | os.PathLike[str] | Mapping[str, Any]


Sweep = Mapping[str, Sequence[Any]] | Iterable[str]


def _source(
    scenario: Scenario,
    set: Mapping[str, Any] | Iterable[str] | None,
    seed: int | None,
    sweep: Sweep | None = None,
    repeats: int | None = None,
) -> dict[str, Any]:
    if isinstance(scenario, Mapping):
        text, name = _toml.dumps(scenario), "the scenario"
    elif isinstance(scenario, str) and "\n" in scenario:
        text, name = scenario, "the scenario"
    else:
        name = os.fspath(scenario)
        try:
            text = Path(name).read_text(encoding="utf-8")
        except OSError as error:
            raise _native.ScenarioError(
                f"error: cannot read {name}: {error.strerror}\n  = help: give a file, the text of a scenario or a dict"
            ) from None
    if set is None:
        changes = []
    elif isinstance(set, Mapping):
        changes = [f"{key}={entry if isinstance(entry, str) else _toml.value(entry)}" for key, entry in set.items()]
    else:
        changes = list(set)
    return {"text": text, "name": name, "set": changes, "sweep": _swept(sweep), "seed": seed, "repeats": repeats}


def _swept(sweep: Sweep | None) -> list[str]:
    """Swept keys as ``--sweep`` has them."""
    if sweep is None:
        return []
    if not isinstance(sweep, Mapping):
        return list(sweep)
    for key, values in sweep.items():
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise TypeError(f"sweep[{key!r}]: found {values!r}, expected a list of values")
    return [f"{key}={','.join(_toml.value(entry) for entry in values)}" for key, values in sweep.items()]


def run(
    scenario: Scenario,
    *,
    set: Mapping[str, Any] | Iterable[str] | None = None,
    sweep: Sweep | None = None,
    seed: int | None = None,
    repeats: int | None = None,
    out: str | os.PathLike[str] | bool | None = None,
    force: bool = False,
    resume: bool = False,
    checkpoint: float | None = 60.0,
    threads: int | None = None,
    jobs: int | None = None,
    timing_only: bool = False,
    speedup: float | None = None,
    plugins: Sequence[type[_plugins.Plugin]] = (),
    observers: Sequence[Observer] = (),
    task: Trainer | None = None,
    progress: bool | None = None,
) -> Run:
    """Runs a scenario: a path, TOML text (of several lines) or a dict.

    ``set`` changes keys, as ``--set`` does: ``{"server.close.deadline": "5s"}``. ``sweep`` gives keys several values,
    ``{"server.close.deadline": ["5s", "30s"]}``, and every combination is run, with ``repeats`` seeds each. ``out`` is the folder; ``True`` means
    ``runs/NAME``, and without it everything is kept in a temporary folder that goes with the ``Run``. ``checkpoint`` is
    how many seconds of training may be lost at most; ``None`` keeps no checkpoints. ``plugins`` are classes that
    ``@plugin`` named; those are found by name as well. ``task`` is trained instead of what ``[task]`` says, such as a
    ``gp.torch.Task``. ``threads`` is how many train at the same time; models that Python trains do so in as many
    processes, and in this one unless it is given. ``jobs`` is how many runs go on side by side; what Python brings hears
    of one after the other unless it is given. With ``speedup`` the run is on the wall clock, where so many simulated
    seconds pass in a real one and steps are really taken one by one. Ctrl-C ends the run as in a terminal: everything is written,
    then ``KeyboardInterrupt`` is raised.

    >>> import gruppetto as gp
    >>> gp.run({"name": "one", "stop.rounds": 2, "task.clients": 3, "client.work.steps": 4}).summary["status"]
    'complete'
    """
    source = _source(scenario, set, seed, sweep, repeats)
    source = _with_task(source, task)
    temporary = None
    if out is None:
        temporary = tempfile.TemporaryDirectory(prefix="gruppetto-")
        folder = Path(temporary.name) / "run"
    elif out is True:
        folder = Path("runs") / _name(source["text"])
    elif out is False:
        raise ValueError("out=False: expected a folder, True for runs/NAME, or None for a temporary folder")
    else:
        folder = Path(out)
    request = {
        "out": folder,
        "force": force,
        "resume": resume,
        "checkpoint": checkpoint,
        "threads": threads,
        "jobs": jobs,
        "timing_only": timing_only,
        "speedup": speedup,
    }
    hooks = _plugins.registered(plugins, observers)
    with bar(progress) as show, training(hooks, task, threads) as prepared:
        text = _native.run(source, request, prepared, show)
    return Run(folder, json.loads(text), temporary)


#: The name of a task that is handed to ``run``.
_BROUGHT = "task="


def _with_task(source: dict[str, Any], task: Trainer | None) -> dict[str, Any]:
    """The scenario with the task that was handed over instead of its own."""
    if task is None:
        return source
    change = f'task={{ kind = {{ plugin = "{_BROUGHT}" }}, clients = {len(task)} }}'
    return {**source, "set": [*source["set"], change]}


@contextlib.contextmanager
def training(hooks: dict[str, Any], task: Trainer | None, threads: int | None) -> Iterator[dict[str, Any]]:
    """Hooks of which those that train have processes to train in, if there are to be several."""
    if task is not None:
        # A run of another seed has a trainer of its own, of the same data.
        hooks["tasks"].append({"name": _BROUGHT, "make": lambda: copy.copy(task), "takes": []})
    if not hooks["tasks"]:
        yield hooks
        return
    workers = Workers(threads) if threads is not None and threads > 1 else None
    made: list[Trainer] = []
    lock = threading.Lock()
    for observer in hooks["observers"]:
        observer._lock = lock

    def prepared(make: Any) -> Any:
        def trainer(**parameters: Any) -> Trainer:
            one: Trainer = make(**parameters)
            one._workers, one._own_lock = workers, lock
            made.append(one)
            return one

        return trainer

    try:
        yield {**hooks, "tasks": [{**one, "make": prepared(one["make"])} for one in hooks["tasks"]]}
    finally:
        if workers is not None:
            workers.close()
        for one in made:
            one.close()


def _name(text: str) -> str:
    """The name of a scenario: what else is wrong with it is told when it is read."""
    for line in text.splitlines():
        key, _, value = line.partition("=")
        if key.strip() == "name":
            return value.split("#")[0].strip().strip("\"'")
    return "run"


def check(
    scenario: Scenario,
    *,
    set: Mapping[str, Any] | Iterable[str] | None = None,
    sweep: Sweep | None = None,
    seed: int | None = None,
    repeats: int | None = None,
    plugins: Sequence[type[_plugins.Plugin]] = (),
    task: Trainer | None = None,
) -> str:
    """What ``gruppetto check`` says: who takes part, how many steps, how long, how much memory.

    >>> import gruppetto as gp
    >>> print(gp.check({"name": "one", "stop.rounds": 2, "client.work.steps": 4}).splitlines()[0])
    valid; 1 run, from seed 1
    """
    with training(_plugins.registered(plugins, ()), task, None) as hooks:
        return _native.check(_with_task(_source(scenario, set, seed, sweep, repeats), task), hooks)


def theory(
    scenario: Scenario,
    *,
    set: Mapping[str, Any] | Iterable[str] | None = None,
    seed: int | None = None,
    plugins: Sequence[type[_plugins.Plugin]] = (),
    task: Trainer | None = None,
) -> list[dict[str, Any]]:
    """What the paper's theorems predict, a dict for every variant, without training."""
    with training(_plugins.registered(plugins, ()), task, None) as hooks:
        found: list[dict[str, Any]] = json.loads(_native.theory(_with_task(_source(scenario, set, seed), task), hooks))
        return found


def merge(
    runs: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str] | None = None,
    *,
    force: bool = False,
    plugins: Sequence[type[_plugins.Plugin]] = (),
) -> Run:
    """Makes one run of parts (``gruppetto run --part 2/8``), or of runs that differ in seeds or swept values only.

    ``runs`` are folders of runs, or folders that hold such. Without ``out`` the merged run is in a temporary folder that
    goes with the ``Run``.

    >>> import gruppetto as gp
    >>> one, two = (gp.run({"name": "one", "stop.rounds": 2, "client.work.steps": 4}, seed=seed) for seed in (1, 2))
    >>> gp.merge([one.path, two.path]).runs["seed"]
    array([1, 2], dtype=uint64)
    """
    temporary = None
    if out is None:
        temporary = tempfile.TemporaryDirectory(prefix="gruppetto-")
        folder = Path(temporary.name) / "run"
    else:
        folder = Path(out)
    with training(_plugins.registered(plugins, ()), None, None) as hooks:
        text = _native.merge([os.fspath(run) for run in runs], folder, force, hooks)
    return Run(folder, json.loads(text), temporary)


def load(folder: str | os.PathLike[str]) -> Run:
    """A run that was made before, in its folder; one that was killed, too."""
    return Run(Path(folder), json.loads(_native.load(folder)), None)
