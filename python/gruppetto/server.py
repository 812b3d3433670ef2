"""What an update weighs and how the model moves: base classes of the server's rules."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from .plugins import Column, Plugin, wrong


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
