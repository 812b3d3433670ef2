"""Who is asked, how much a client does, when a round closes: base classes of policies."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from . import _native
from .plugins import Column, Plugin, Rng, wrong


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

    def came_late(self, update: Arrived) -> None:
        """An update was dropped by ``late`` or ``max_staleness`` of the scenario. There is nothing to decide; a policy may
        want to know how long the client took."""

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

    def _came_late(self, client: int, now: int, asked: int, tau: int, staleness: int) -> None:
        self.came_late(Arrived(client, now / 1e9, asked / 1e9, tau, staleness))

    def _lost(self, now: int) -> tuple[int, int]:
        return self._then("lost", self.lost(now / 1e9))

    def _time_is_up(self, now: int) -> tuple[int, int]:
        return self._then("time_is_up", self.time_is_up(now / 1e9) or Verdict(close=True))

    def _closed(self, now: int) -> None:
        self.closed(now / 1e9)
