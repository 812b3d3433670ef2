"""What you bring: classes with the same meaning as the traits in Rust.

A hook sees columns as read-only NumPy arrays, and draws from the generator that it is handed: then the same bits come
out on any number of threads, and of a run that was killed and goes on. An exception ends the run.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from . import _native

Column = npt.NDArray[Any]


if TYPE_CHECKING:
    # It has all its methods.
    from numpy.random import Generator as _Generator
else:
    _Generator = object


class Rng(_Generator):
    """Randomness for one call: it depends on the seed of the run and on the number of the call, and on nothing else."""

    __slots__ = ("_generator", "_key")

    # Not of NumPy's making.
    def __init__(self, key: tuple[int, int] | _native.CallRng) -> None:
        self._key = key
        self._generator: np.random.Generator | None = None

    @property
    def generator(self) -> np.random.Generator:
        """A NumPy generator."""
        if self._generator is None:
            key = self._key if isinstance(self._key, tuple) else self._key.key()
            self._generator = np.random.Generator(np.random.Philox(key=np.array(key, dtype=np.uint64)))
        return self._generator

    def uniforms(self, count: int, stream: int = 0) -> Column:
        """Numbers in [0, 1) as the built-in policies draw them, from one of any number of independent streams."""
        assert not isinstance(self._key, tuple), "only policies have streams"
        return np.frombuffer(self._key.uniforms(stream, count))

    def draw(self, count: int, candidates: Column, stream: int = 0) -> list[int]:
        """So many of the clients that ``candidates`` marks, all equally likely, as the built-in policies draw them."""
        assert not isinstance(self._key, tuple), "only policies have streams"
        return self._key.draw(stream, count, np.asarray(candidates, dtype=np.bool_).tobytes())

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # rng.choice, rng.integers and so on are NumPy's.
            return getattr(self.generator, name)


class Plugin:
    """What ``@plugin`` can name."""

    kind: ClassVar[str] = ""
    plugin_name: ClassVar[str] = ""


P = TypeVar("P", bound=type[Plugin])
_known: dict[str, type[Plugin]] = {}


def plugin(name: str) -> Callable[[P], P]:
    """Names a class, so that a scenario can say ``{ plugin = "name", … }``. The other keys there are the parameters of
    its ``__init__``."""

    def named(brought: P) -> P:
        if not (isinstance(brought, type) and issubclass(brought, Plugin) and brought.kind):
            raise TypeError(f"@plugin({name!r}): expected a class derived from gp.Selector, gp.Closing and so on")
        brought.plugin_name = name
        _known[name] = brought
        return brought

    return named


def registered(plugins: Sequence[type[Plugin]], observers: Sequence[Observer]) -> dict[str, Any]:
    """Everything that a run may name."""
    hooks: dict[str, Any] = {kind: [] for kind in ("selectors", "works", "closings", "weightings", "optimizers", "tasks")}
    brought = dict(_known)
    for one in plugins:
        if not one.plugin_name:
            raise ValueError(f'{one.__name__} has no name: put @gp.plugin("name") before the class')
        brought[one.plugin_name] = one
    for name, one in brought.items():
        hooks[one.kind].append({"name": name, "make": one, "takes": _parameters(one)})
    hooks["observers"] = list(observers)
    return hooks


def _parameters(brought: type[Plugin]) -> list[str] | None:
    """The names that ``__init__`` takes; ``None`` if it takes any."""
    kinds = inspect.signature(brought).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in kinds):
        return None
    return [parameter.name for parameter in kinds if parameter.kind is not parameter.VAR_POSITIONAL]


def wrong(hook: object, method: str, where: str, found: object, expected: str) -> ValueError:
    """What a hook gave back cannot be used."""
    return ValueError(f"{type(hook).__name__}.{method}, {where}: found {found!r}, expected {expected}")


class View:
    """What a selector sees. Columns have an entry for every client."""

    __slots__ = ("_cache", "_columns", "_fleet", "now", "round", "wanted")

    _KINDS: ClassVar = {
        "available": (0, np.bool_),
        "present": (1, np.bool_),
        "busy": (2, np.bool_),
        "last_duration": (3, np.float64),
        "last_norm": (4, np.float64),
        "times_used": (5, np.uint32),
    }

    def __init__(self, round: int, now: float, wanted: int, columns: tuple[bytes, ...], fleet: Fleet) -> None:
        self.round = round
        """The number of the round, from 1; where clients are sent off one by one, of the draw."""
        self.now = now
        """Simulated seconds."""
        self.wanted = wanted
        """How many clients are to be asked."""
        self._columns = columns
        self._fleet = fleet

    def _column(self, name: str) -> Column:
        place, kind = self._KINDS[name]
        return np.frombuffer(self._columns[place], dtype=kind)

    @property
    def available(self) -> Column:
        """Whether a client can be asked now: it is present and not busy."""
        return self._column("available")

    @property
    def present(self) -> Column:
        """Whether a client is there."""
        return self._column("present")

    @property
    def busy(self) -> Column:
        """Whether a client is still taking part."""
        return self._column("busy")

    @property
    def p(self) -> Column:
        """Shares of the data."""
        return self._fleet.p

    @property
    def last_duration(self) -> Column:
        """Seconds from being asked to being back, of the last participation; NaN before the first."""
        return self._column("last_duration")

    @property
    def last_norm(self) -> Column:
        """Norm of the normalised update of the last participation; NaN before the first."""
        return self._column("last_norm")

    @property
    def times_used(self) -> Column:
        """How often an update of a client was used."""
        return self._column("times_used")


class Fleet(NamedTuple):
    """The clients of a run, before the first round."""

    p: Column
    """Shares of the data."""
    expected_duration: Column
    """Seconds of a client's round when nothing disturbs it."""
    parameters: int
    """Parameters of the model."""
    seed: int
    """The seed of the run."""


class Feedback(NamedTuple):
    """What came of asking a client."""

    client: int
    round: int
    outcome: str
    tau: int
    duration: float
    norm: float


class Selector(Plugin):
    """Who is asked? For ``server.scheme``."""

    kind = "selectors"
    with_replacement: ClassVar[bool] = False
    """Whether a client may be drawn more than once in a round: then it counts so many times."""
    fleet: Fleet

    def select(self, view: View, rng: Rng) -> Any:
        """The numbers of the clients to ask, at most ``view.wanted``, all of them available."""
        raise NotImplementedError(f"{type(self).__name__} has no method select")

    def heard(self, feedback: Feedback) -> None:
        """A participation ended."""

    def _begin(self, p: bytes, expected: bytes, parameters: int, seed: int) -> bool:
        self.fleet = Fleet(np.frombuffer(p), np.frombuffer(expected), parameters, seed)
        return type(self).heard is not Selector.heard

    def _select(self, round: int, now: int, wanted: int, columns: tuple[bytes, ...], key: _native.CallRng) -> list[int]:
        chosen = self.select(View(round, now / 1e9, wanted, columns, self.fleet), Rng(key))
        array = np.asarray(chosen)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise wrong(self, "select", f"round {round}", chosen, "a list or array of client numbers")
        clients = len(self.fleet.p)
        if array.size and not (0 <= array.min() and array.max() < clients):
            odd = next(int(client) for client in array if not 0 <= client < clients)
            raise wrong(self, "select", f"round {round}", odd, f"clients from 0 to {clients - 1}")
        if not self.with_replacement and len(np.unique(array)) < array.size:
            twice = next(int(client) for client in array if (array == client).sum() > 1)
            expected = "each client once, or with_replacement = True in the class"
            raise wrong(self, "select", f"round {round}", f"client {twice} twice", expected)
        numbers: list[int] = array.tolist()
        return numbers

    def _heard(self, *told: Any) -> None:
        self.heard(Feedback(*told))


class WorkAsked(NamedTuple):
    """A client that is sent off. Times are in seconds."""

    client: int
    round: int
    now: float
    deadline: float | None
    step: float
    samples: int
    batch: int


class Work(Plugin):
    """How much is a client to do? For ``client.work``."""

    kind = "works"

    def amount(self, ask: WorkAsked, rng: Rng) -> Any:
        """So many steps (an int), ``("epochs", e)``, or ``"deadline"``: as many as fit."""
        raise NotImplementedError(f"{type(self).__name__} has no method amount")

    def _amount(self, told: tuple[Any, ...], more: tuple[Any, ...], key: _native.CallRng) -> tuple[int, float]:
        ask = WorkAsked(*told, *more)
        amount = self.amount(ask, Rng(key))
        if isinstance(amount, str) and amount == "deadline":
            return 2, 0.0
        if isinstance(amount, tuple) and len(amount) == 2 and amount[0] == "epochs" and float(amount[1]) > 0:
            return 1, float(amount[1])
        if isinstance(amount, (int, np.integer)) and not isinstance(amount, bool) and amount >= 1:
            return 0, float(amount)
        where = f"client {ask.client}, round {ask.round}"
        raise wrong(self, "amount", where, amount, 'steps (1 or more), ("epochs", e) or "deadline"')


class Round(NamedTuple):
    """A round that opens. Times are in seconds."""

    round: int
    now: float
    asked: int
    deadline: float | None
    """The deadline that an event of the scenario sets, in seconds from now."""


class Opened(NamedTuple):
    """What a closing policy wants of a round, in seconds from its opening."""

    deadline: float | None = None
    """What clients are told and work towards."""
    wake: float | None = None
    """When the policy wants to be asked; at the deadline unless given."""


class Arrived(NamedTuple):
    """An update that arrives. Times are in seconds."""

    client: int
    now: float
    asked: float
    tau: int
    staleness: int


class Verdict(NamedTuple):
    """What becomes of an update and of the round."""

    counts: float | None = 1.0
    """The factor by which the update counts, from 0 to 1; ``None``: it is dropped."""
    close: bool = False
    """Whether the round closes."""
    wake: float | None = None
    """When the policy wants to be asked instead, in simulated seconds."""


class Closing(Plugin):
    """When does a round close, and which updates count? For ``server.close``."""

    kind = "closings"
    one_by_one: ClassVar[bool] = False
    """Clients are sent off one by one, from the newest model."""
    deadline: ClassVar[bool] = False
    """Rounds have a deadline that clients are told."""
    may_extend: ClassVar[bool] = False
    """A round may go on after that deadline."""
    leaves_behind: ClassVar[bool] = False
    """A round may close while clients that it asked are still on their way."""

    def opened(self, round: Round) -> Opened | None:
        """A round opened."""
        return None

    def arrived(self, update: Arrived) -> Verdict | None:
        """An update arrived. ``None``: it counts, and the round goes on."""
        raise NotImplementedError(f"{type(self).__name__} has no method arrived")

    def lost(self, now: float) -> Verdict | None:
        """A client of the open round vanished. Only ``close`` and ``wake`` of the answer matter."""
        return None

    def time_is_up(self, now: float) -> Verdict | None:
        """It is the instant that was asked for. ``None``: the round closes."""
        return Verdict(close=True)

    def closed(self, now: float) -> None:
        """The round closed."""

    def _character(self) -> tuple[bool, bool, bool, bool]:
        return self.one_by_one, self.deadline, self.may_extend, self.leaves_behind

    def _opened(self, round: int, now: int, asked: int, event: float | None) -> tuple[int | None, int | None]:
        self._round = round
        wanted = self.opened(Round(round, now / 1e9, asked, event))
        if wanted is None:
            return None, None
        if not isinstance(wanted, Opened):
            raise wrong(self, "opened", f"round {round}", wanted, "gp.Opened or None")
        return self._nanos("opened", wanted.deadline), self._nanos("opened", wanted.wake)

    def _nanos(self, method: str, seconds: float | None) -> int | None:
        if seconds is None:
            return None
        if not 0 <= seconds < 9e9:
            raise wrong(self, method, f"round {self._round}", seconds, "seconds, 0 or more")
        return round(seconds * 1e9)

    def _then(self, method: str, verdict: Verdict | None) -> tuple[int, int]:
        if verdict is None:
            return 0, 0
        if not isinstance(verdict, Verdict):
            raise wrong(self, method, f"round {self._round}", verdict, "gp.Verdict or None")
        if verdict.close:
            return 1, 0
        wake = self._nanos(method, verdict.wake)
        return (0, 0) if wake is None else (2, wake)

    def _arrived(self, client: int, now: int, asked: int, tau: int, staleness: int) -> tuple[float, int, int]:
        verdict = self.arrived(Arrived(client, now / 1e9, asked / 1e9, tau, staleness))
        if verdict is None:
            return 1.0, 0, 0
        code, wake = self._then("arrived", verdict)
        counts = -1.0 if verdict.counts is None else float(verdict.counts)
        if verdict.counts is not None and not 0 <= counts <= 1:
            where = f"round {self._round}, client {client}"
            raise wrong(self, "arrived", where, verdict.counts, "a factor from 0 to 1, or None")
        return counts, code, wake

    def _lost(self, now: int) -> tuple[int, int]:
        return self._then("lost", self.lost(now / 1e9))

    def _time_is_up(self, now: int) -> tuple[int, int]:
        return self._then("time_is_up", self.time_is_up(now / 1e9) or Verdict(close=True))

    def _closed(self, now: int) -> None:
        self.closed(now / 1e9)


class Contribution(NamedTuple):
    """An update as a weighting sees it."""

    client: int
    p: float
    times_drawn: int
    tau: int
    accumulation: float
    discount: float


class Sums(NamedTuple):
    """Sums over the updates of a round."""

    raw: float
    discounted: float
    p: float
    accumulation: float
    steps: float
    tau_eff: float
    """As the scenario's ``tau_eff`` has it."""


class Applied(NamedTuple):
    """How one aggregation moves the model."""

    tau_eff: float
    scale: float


class Weighting(Plugin):
    """What does an update weigh? For ``server.weighting``."""

    kind = "weightings"

    def opened(self) -> None:
        """A round begins."""

    def weigh(self, update: Contribution) -> float:
        """The weight of an update, up to a factor that is the same for the round."""
        raise NotImplementedError(f"{type(self).__name__} has no method weigh")

    def closed(self, sums: Sums) -> Applied:
        """How far the model moves; weights sum to 1 unless you say otherwise."""
        return Applied(sums.tau_eff, 1.0 / sums.raw)

    def _weigh(self, *told: Any) -> float:
        update = Contribution(*told)
        weight = float(self.weigh(update))
        if not np.isfinite(weight):
            raise wrong(self, "weigh", f"client {update.client}", weight, "a finite number")
        return weight

    def _closed(self, *told: float) -> tuple[float, float]:
        applied = self.closed(Sums(*told))
        tau_eff, scale = float(applied[0]), float(applied[1])
        if not (np.isfinite(tau_eff) and np.isfinite(scale)):
            raise wrong(self, "closed", "a round", applied, "finite numbers (tau_eff, scale)")
        return tau_eff, scale


class Held(NamedTuple):
    """An update that an optimiser which collects is given."""

    update: Contribution
    raw: float
    delta: Column


class ServerOptimizer(Plugin):
    """How does the model move? For ``server.optimizer``."""

    kind = "optimizers"
    collects: ClassVar[bool] = False
    """Whether it wants every update (for medians and trimming) instead of their sum."""

    def apply(
        self, x: Column, direction: Column, factor: float, applied: Applied, client_lr: float, updates: list[Held]
    ) -> None:
        """Moves ``x`` in place. ``factor * direction`` is the update of the general rule. The arrays are the simulator's
        own memory, not copies; ``direction`` and what is in ``updates`` can only be read."""
        raise NotImplementedError(f"{type(self).__name__} has no method apply")

    def save(self) -> Any:
        """Its state as numbers, for a checkpoint."""
        return []

    def load(self, state: Column) -> None:
        """Takes over a state that ``save`` gave."""

    def _apply(
        self,
        x: object,
        direction: object,
        factor: float,
        applied: tuple[float, float],
        client_lr: float,
        updates: list[tuple[tuple[Any, ...], float, object]],
    ) -> None:
        # Arrays of the simulator's own memory.
        held = [Held(Contribution(*update), raw, np.asarray(delta)) for update, raw, delta in updates]
        self.apply(np.asarray(x), np.asarray(direction), factor, Applied(*applied), client_lr, held)

    def _save(self) -> bytes:
        return np.asarray(self.save(), dtype=np.float64).tobytes()

    def _load(self, state: bytes) -> None:
        self.load(np.frombuffer(state).copy())


class Arrival(NamedTuple):
    """A participation that ended. Times are in seconds."""

    round: int
    client: int
    outcome: str
    tau: int
    staleness: int
    dispatched: float
    download: float
    compute: float
    upload: float
    arrived: float


class ClosedRound(NamedTuple):
    """A round that closed."""

    round: int
    seconds: float
    asked: int
    arrived: int
    tau: tuple[float, float, float]
    tau_eff: float
    chi2: float
    missing_mass: float
    metrics: dict[str, float] | None


class Observer:
    """Is told everything and decides nothing."""

    variant: str
    seed: int

    def begin(self) -> bool:
        """A run begins, of ``self.variant`` with ``self.seed``. False: it is not watched."""
        return True

    def started(self, metrics: dict[str, float]) -> None:
        """The model was measured before the first round."""

    def arrived(self, arrivals: list[Arrival]) -> None:
        """Participations ended."""

    def closed(self, round: ClosedRound) -> None:
        """A round closed."""

    def measured(self, seconds: float, metrics: dict[str, float]) -> None:
        """The model was measured at the end."""

    def ended(self, seconds: float) -> None:
        """The run ended."""

    # While a model is trained in this process, nothing is told: what an observer draws must not come in between.
    _lock: Any = contextlib.nullcontext()

    def _begin(self, variant: str, seed: int) -> bool:
        self.variant, self.seed = variant, seed
        with self._lock:
            return bool(self.begin())

    def _started(self, metrics: dict[str, float]) -> None:
        with self._lock:
            self.started(metrics)

    def _measured(self, seconds: float, metrics: dict[str, float]) -> None:
        with self._lock:
            self.measured(seconds, metrics)

    def _ended(self, seconds: float) -> None:
        with self._lock:
            self.ended(seconds)

    @property
    def _hears_arrivals(self) -> bool:
        return type(self).arrived is not Observer.arrived

    def _arrived(self, rows: list[tuple[Any, ...]]) -> None:
        with self._lock:
            self.arrived([Arrival(*row[:5], *row[5]) for row in rows])

    def _closed(self, *told: Any) -> None:
        with self._lock:
            self.closed(ClosedRound(*told))
