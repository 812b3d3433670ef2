"""Running scenarios, and what comes out."""

from __future__ import annotations

import contextlib
import copy
import html
import json
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _native, _toml, plugins as _plugins
from ._progress import bar
from ._workers import Workers
from .training import Trainer

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Scenario = str | os.PathLike[str] | Mapping[str, Any]


def _source(scenario: Scenario, set: Mapping[str, Any] | Iterable[str] | None, seed: int | None) -> dict[str, Any]:
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
    return {"text": text, "name": name, "set": changes, "seed": seed}


def run(
    scenario: Scenario,
    *,
    set: Mapping[str, Any] | Iterable[str] | None = None,
    seed: int | None = None,
    repeats: int | None = None,
    out: str | os.PathLike[str] | bool | None = None,
    force: bool = False,
    resume: bool = False,
    checkpoint: float | None = 60.0,
    threads: int | None = None,
    timing_only: bool = False,
    speedup: float | None = None,
    plugins: Sequence[type[_plugins.Plugin]] = (),
    observers: Sequence[_plugins.Observer] = (),
    task: Trainer | None = None,
    progress: bool | None = None,
) -> Run:
    """Runs a scenario: a path, TOML text (of several lines) or a dict.

    ``set`` changes keys, as ``--set`` does: ``{"server.close.deadline": "5s"}``. ``out`` is the folder; ``True`` means
    ``runs/NAME``, and without it everything is kept in a temporary folder that goes with the ``Run``. ``checkpoint`` is
    how many seconds of training may be lost at most; ``None`` keeps no checkpoints. ``plugins`` are classes that
    ``@plugin`` named; those are found by name as well. ``task`` is trained instead of what ``[task]`` says, such as a
    ``gp.torch.Task``. ``threads`` is how many train at the same time; models that Python trains do so in as many
    processes, and in this one unless it is given. With ``speedup`` the run is on the wall clock, where so many simulated
    seconds pass in a real one and steps are really taken one by one. Ctrl-C ends the run as in a terminal: everything is written,
    then ``KeyboardInterrupt`` is raised.

    >>> import gruppetto as gp
    >>> gp.run({"name": "one", "stop.rounds": 2, "task.clients": 3, "client.work.steps": 4}).summary["status"]
    'complete'
    """
    source = _source(scenario, set, seed)
    if repeats is not None:
        source["set"].append(f"repeats={repeats}")
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
    seed: int | None = None,
    plugins: Sequence[type[_plugins.Plugin]] = (),
    task: Trainer | None = None,
) -> str:
    """What ``gruppetto check`` says: who takes part, how many steps, how long, how much memory.

    >>> import gruppetto as gp
    >>> print(gp.check({"name": "one", "stop.rounds": 2, "client.work.steps": 4}).split()[0])
    fednova
    """
    with training(_plugins.registered(plugins, ()), task, None) as hooks:
        return _native.check(_with_task(_source(scenario, set, seed), task), hooks)


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


def load(folder: str | os.PathLike[str]) -> Run:
    """A run that was made before, in its folder; one that was killed, too."""
    return Run(Path(folder), json.loads(_native.load(folder)), None)


class Table:
    """Rows of a run, as columns. Polars, pyarrow and others read it without copies (Arrow's PyCapsule interface)."""

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._native.column_names

    def __len__(self) -> int:
        return len(self._native)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        """A column as a NumPy array; what is missing is NaN."""
        values, kind = self._native.raw(name)
        return np.array(values) if kind == "text" else np.frombuffer(values, dtype=kind)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {', '.join(self.columns)}>"

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a pandas DataFrame."""
        frame: pandas.DataFrame = _imported("pandas").DataFrame({name: self[name] for name in self})
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The table as a polars DataFrame, without copies."""
        frame: polars.DataFrame = _imported("polars").DataFrame(self)
        return frame

    def to_pyarrow(self) -> pyarrow.Table:
        """The table as a pyarrow Table, without copies."""
        return _imported("pyarrow").table(self)


def _imported(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        raise ImportError(f"{name} is not installed: pip install {name}, or use the columns as NumPy arrays") from None


class Latency:
    """How long clients took for one phase."""

    def __init__(self, folder: Path, phase: str, run: str) -> None:
        self._where = folder, phase, run

    def percentile(self, part: float) -> float:
        """Seconds that ``part`` percent of the clients' rounds did not exceed."""
        folder, phase, run = self._where
        return _native.latency(folder, phase, [part])[run][0]


class Run:
    """A scenario that was run: its summary, tables, models and report."""

    def __init__(self, path: Path, summary: dict[str, Any], temporary: object | None) -> None:
        self.path = path
        self.summary = summary
        # It goes with the run.
        self._temporary = temporary

    @property
    def rounds(self) -> Table:
        """A row for every aggregation."""
        return Table(_native.table(self.path, "rounds"))

    @property
    def clients(self) -> Table:
        """A row for every participation of a client."""
        return Table(_native.table(self.path, "clients"))

    @property
    def report(self) -> Path:
        """The page that explains the run."""
        return self.path / "report.html"

    def model(self, variant: str | None = None, seed: int | None = None) -> dict[str, npt.NDArray[Any]]:
        """The final parameters of a variant, by name."""
        return _tensors(self.path / f"model-{self._cell(variant, seed)}.safetensors")

    def latency(self, phase: str, variant: str | None = None, seed: int | None = None) -> Latency:
        """Latencies of a phase: download, compute, upload, round, staleness or idle."""
        known = ["download", "compute", "upload", "round", "staleness", "idle"]
        if phase not in known:
            raise ValueError(f"phase {phase!r}: expected one of {', '.join(known)}")
        return Latency(self.path, phase, self._cell(variant, seed))

    def _cell(self, variant: str | None, seed: int | None) -> str:
        cells = [(cell["name"], cell["seed"]) for cell in self.summary["variants"]]
        names, seeds = sorted({name for name, _ in cells}), sorted({seed for _, seed in cells})
        if variant is None and len(names) > 1:
            raise ValueError(f"the run has several variants: say which of {', '.join(names)}")
        name = names[0] if variant is None else variant
        number = seeds[0] if seed is None else seed
        if (name, number) not in cells:
            raise ValueError(f"variant {name!r}, seed {number}: the run has {', '.join(names)} with seeds {seeds}")
        return f"{name}-{number}" if len(seeds) > 1 else str(name)

    def __repr__(self) -> str:
        return f"<Run {self.summary['name']!r}: {self.summary['status']}, {len(self.summary['variants'])} cells, {self.path}>"

    def _repr_html_(self) -> str:
        page = html.escape(self.report.read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 70vh; border: 1px solid #ccc"></iframe>'


def _tensors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The tensors of a safetensors file: a header in JSON, then numbers."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    found = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            kind = {"F64": "<f8", "F32": "<f4"}[entry["dtype"]]
            found[name] = np.frombuffer(data[begin:end], dtype=kind).reshape(entry["shape"])
    return found
