"""A model as one vector: ``[weights | averaged buffers | counters]``.

Parameters that require a gradient are views of one long tensor, and so are their gradients: a step of the local law is a
few operations on the whole, and a model is taken over by one copy. Parameters that require none (a frozen net under LoRA
adapters) are not part of it: they neither travel nor count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn


class ModelVector:
    """A module, and the tensors that its parameters are views of: one for each precision."""

    def __init__(self, module: nn.Module, device: torch.device) -> None:
        self.module = module.to(device)
        self.device = device
        named = [(name, own) for name, own in module.named_parameters() if own.requires_grad]
        if not named:
            raise ValueError("the model has no parameters that require a gradient: there is nothing to train")
        odd = [name for name, own in named if not own.dtype.is_floating_point]
        if odd:
            raise ValueError(f"parameter {odd[0]} is of {dict(named)[odd[0]].dtype}: expected floating-point numbers")
        kinds = sorted({own.dtype for _, own in named}, key=str)
        # Parameters of one precision stand together.
        named.sort(key=lambda entry: kinds.index(entry[1].dtype))
        self.parameters = [own for _, own in named]
        self.flat: list[torch.Tensor] = []
        self.grads: list[torch.Tensor] = []
        for kind in kinds:
            self._gather([own for own in self.parameters if own.dtype == kind], kind)
        self.weights = sum(flat.numel() for flat in self.flat)
        saved = set(module.state_dict())
        buffers = [(name, own) for name, own in module.named_buffers() if name in saved]
        averaged = [(name, own) for name, own in buffers if own.dtype.is_floating_point]
        counters = [(name, own) for name, own in buffers if not own.dtype.is_floating_point]
        self.averaged, self.counters = [own for _, own in averaged], [own for _, own in counters]
        self.buffers = (sum(own.numel() for own in self.averaged), sum(own.numel() for own in self.counters))
        self.size = self.weights + sum(self.buffers)
        self.tensors = [(name, list(own.shape)) for name, own in [*named, *averaged, *counters]]
        wide = any(kind == torch.float64 for kind in kinds)
        self.dtype = "float64" if wide else "float32"

    def _gather(self, own: list[nn.Parameter], kind: torch.dtype) -> None:
        flat = torch.empty(sum(one.numel() for one in own), dtype=kind, device=self.device)
        grad = torch.zeros_like(flat)
        at = 0
        for one in own:
            part = slice(at, at + one.numel())
            flat[part].copy_(one.detach().reshape(-1))
            one.data = flat[part].view(one.shape)
            one.grad = grad[part].view(one.shape)
            at += one.numel()
        self.flat.append(flat)
        self.grads.append(grad)

    def zero_grad(self) -> None:
        """Gradients are summed into what is there."""
        for grad in self.grads:
            grad.zero_()

    def _pieces(self) -> list[torch.Tensor]:
        return [*self.flat, *self.averaged, *self.counters]

    def load(self, x: npt.NDArray[Any]) -> None:
        """Takes over a model."""
        numbers = torch.as_tensor(np.array(x, copy=True))
        at = 0
        with torch.no_grad():
            for piece in self._pieces():
                piece.copy_(numbers[at : at + piece.numel()].view(piece.shape))
                at += piece.numel()

    def numbers(self) -> npt.NDArray[Any]:
        """The model as one vector."""
        kind = torch.float64 if self.dtype == "float64" else torch.float32
        pieces = [piece.detach().reshape(-1).to("cpu", kind) for piece in self._pieces()]
        return torch.cat(pieces).numpy()

    def snapshot(self) -> list[torch.Tensor]:
        """A copy of everything."""
        return [piece.detach().clone() for piece in self._pieces()]

    def restore(self, snapshot: list[torch.Tensor]) -> None:
        """Takes a copy over."""
        with torch.no_grad():
            for piece, saved in zip(self._pieces(), snapshot):
                piece.copy_(saved)

    def change(self, start: list[torch.Tensor]) -> npt.NDArray[Any]:
        """Where weights are minus where they began, and the buffers as they are."""
        kind = torch.float64 if self.dtype == "float64" else torch.float32
        weights = [flat.detach() - begun for flat, begun in zip(self.flat, start)]
        pieces = [*weights, *self.averaged, *self.counters]
        return torch.cat([piece.detach().reshape(-1).to("cpu", kind) for piece in pieces]).numpy()
