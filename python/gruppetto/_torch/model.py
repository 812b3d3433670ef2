"""How a model is called with a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn


def split(batch: Any) -> tuple[Any, Any]:
    """Inputs and target of a batch: a pair, or a dict in which one is called label, labels or target."""
    if isinstance(batch, Mapping):
        names = [name for name in ("label", "labels", "target", "targets") if name in batch]
        if len(names) != 1:
            raise ValueError(f"a batch with {sorted(batch)}: expected one of label, labels, target; or give step=")
        return {name: value for name, value in batch.items() if name != names[0]}, batch[names[0]]
    if isinstance(batch, (list, tuple)) and len(batch) == 2:
        return batch[0], batch[1]
    raise ValueError(f"a batch of {type(batch).__name__}: expected a pair (inputs, target) or a dict; or give step=")


def one_number(what: str, loss: Any) -> torch.Tensor:
    """A loss that can be learned from."""
    if isinstance(loss, torch.Tensor) and loss.numel() == 1:
        return loss
    found = f"a tensor of shape {tuple(loss.shape)}" if isinstance(loss, torch.Tensor) else type(loss).__name__
    raise ValueError(f"{what}: found {found}, expected a tensor with one number, the mean over the batch")


def called(model: nn.Module, inputs: Any) -> Any:
    """The model's output."""
    if isinstance(inputs, Mapping):
        return model(next(iter(inputs.values()))) if len(inputs) == 1 else model(**inputs)
    return model(inputs)


def right(output: Any, target: Any) -> torch.Tensor:
    """How many of a batch have their largest output where the target is."""
    output = getattr(output, "logits", output)
    count: torch.Tensor = (output.argmax(dim=1) == target).sum()
    return count
