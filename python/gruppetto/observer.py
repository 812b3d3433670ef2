"""Observers: they are told everything and decide nothing."""

from __future__ import annotations

import contextlib
from typing import Any, NamedTuple


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
