"""Local steps: by the law of the scenario, or by an optimiser of the user's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt
import torch
from torch import nn

from ..training import Solver
from .vector import ModelVector

Make = Callable[[nn.Module, float], torch.optim.Optimizer]


class Steps:
    """Takes steps on the gradients that are in a vector."""

    def __init__(
        self,
        vector: ModelVector,
        solver: Solver,
        correction: npt.NDArray[Any] | None,
        start: list[torch.Tensor],
        optimizer: Make | None,
    ) -> None:
        self.vector, self.solver, self.start = vector, solver, start
        self.rate = solver.lr
        self.buffers: list[torch.Tensor | None] = [None] * len(vector.flat)
        self.correction: list[torch.Tensor] | None = None
        if correction is not None:
            whole, at = torch.as_tensor(correction.copy()), 0
            self.correction = []
            for flat in vector.flat:
                self.correction.append(whole[at : at + flat.numel()].to(flat))
                at += flat.numel()
        self.own = None if optimizer is None else optimizer(vector.module, solver.lr)

    @torch.no_grad()
    def take(self) -> None:
        """G = g + λx + μ(x − x₀) + c, u = ρu + G, x = x − ηγᵏu; or what the user's optimiser does with g + c."""
        _, momentum, prox, decay, weight_decay = self.solver
        for place, (x, grad) in enumerate(zip(self.vector.flat, self.vector.grads)):
            if self.correction is not None:
                grad.add_(self.correction[place])
            if self.own is not None:
                continue
            if weight_decay:
                grad.add_(x, alpha=weight_decay)
            if prox:
                grad.add_(x, alpha=prox).sub_(self.start[place], alpha=prox)
            if momentum:
                u = self.buffers[place]
                # In the first step it is the gradient itself.
                grad = grad.clone() if u is None else u.mul_(momentum).add_(grad)
                self.buffers[place] = grad
            x.sub_(grad, alpha=self.rate)
        if self.own is not None:
            self.own.step()
        self.rate *= decay


class _One(nn.Module):
    """One number in double precision, at 0."""

    def __init__(self) -> None:
        super().__init__()
        self.x = nn.Parameter(torch.zeros(1, dtype=torch.float64))


def _groups(optimizer: torch.optim.Optimizer) -> list[dict[str, Any]]:
    return [{key: value for key, value in group.items() if key != "params"} for group in optimizer.param_groups]


def _alone(optimizer: torch.optim.Optimizer, settings: dict[str, Any]) -> tuple[torch.optim.Optimizer, nn.Parameter]:
    """The same kind of optimiser with the same settings, for one number. Weight decay belongs to the gradient."""
    one = _One().x
    if settings.get("weight_decay"):
        settings = {**settings, "weight_decay": 0}
    alone = type(optimizer)([one], **{key: settings[key] for key in settings if key in optimizer.defaults})
    return alone, one


def _path(optimizer: torch.optim.Optimizer, gradients: list[float]) -> list[float]:
    """Where one number is after each step on these gradients."""
    alone, one = _alone(optimizer, _groups(optimizer)[0])
    path = []
    for gradient in gradients:
        one.grad = torch.full_like(one, gradient)
        alone.step()
        path.append(float(one.detach()))
    return path


def law_of(make: Make, model: nn.Module) -> str | None:
    """Why ‖a‖₁ of an optimiser is not known; ``None`` if it is."""
    optimizer = make(model, 0.125)
    groups = _groups(optimizer)
    if any(group != groups[0] for group in groups):
        return "its optimizer has parameter groups with different settings"
    try:
        one, other = [1.0, -0.5, 2.0, 0.25, -3.0, 1.5], [0.5, 1.0, -1.0, 2.0, 0.75, -0.25]
        both = [3.0 * a + b for a, b in zip(one, other)]
        sums = [3.0 * a + b for a, b in zip(_path(optimizer, one), _path(optimizer, other))]
        found = _path(optimizer, both)
    except Exception as error:  # Whatever an optimiser of the user's does with one number.
        return f"its optimizer, {type(optimizer).__name__}, cannot be tried on one number ({error})"
    linear = all(abs(a - b) <= 1e-9 * max(1.0, abs(a)) for a, b in zip(sums, found))
    return None if linear else f"its optimizer, {type(optimizer).__name__}, is not linear in its gradients"


def probed(make: Make, model: nn.Module, lr: float, most: int) -> list[float]:
    """‖a‖₁ after 1, 2, … ``most`` steps: the way on the constant gradient 1, divided by the learning rate."""
    return [-x / lr for x in _path(make(model, lr), [1.0] * most)]
