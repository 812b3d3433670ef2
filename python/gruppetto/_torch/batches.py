"""The data of clients, and batches of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.utils.data import Dataset, Subset, TensorDataset, default_collate

from .._native import BatchOrder

Collate = Callable[[list[Any]], Any]


class _Order:
    """Which samples each step takes: the order of native tasks."""

    def __init__(self, all: int, size: int, seed: int, client: int, round: int) -> None:
        self.size = size
        self.native = BatchOrder(all, size, seed, client, round)

    def take(self, steps: int) -> npt.NDArray[np.int64]:
        """The samples of the next steps, a row each."""
        return np.frombuffer(self.native.take(steps), dtype=np.int64).reshape(steps, self.size)


class Batches:
    """Samples of one client."""

    order = _Order

    def __init__(self, data: Any, rows: npt.NDArray[np.int64] | None, collate: Collate | None) -> None:
        self.data, self.rows, self.collate = data, rows, collate
        self.count = len(data) if rows is None else len(rows)
        self.on_device: tuple[torch.device, tuple[torch.Tensor, ...]] | None = None

    def __len__(self) -> int:
        return self.count

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "on_device": None}

    def batch(self, rows: npt.NDArray[np.int64], device: torch.device) -> Any:
        """These samples as a batch on the device."""
        if self.collate is None and isinstance(self.data, TensorDataset):
            return self._from_tensors(rows, device)
        own = rows if self.rows is None else self.rows[rows]
        many = getattr(self.data, "__getitems__", None)
        items = many(own.tolist()) if many is not None else [self.data[int(row)] for row in own]
        return moved((self.collate or default_collate)(items), device)

    def _from_tensors(self, rows: npt.NDArray[np.int64], device: torch.device) -> tuple[torch.Tensor, ...]:
        """Tensors are gathered once, and stay on the device."""
        if self.on_device is None or self.on_device[0] != device:
            own = self.data.tensors
            if self.rows is not None:
                at = torch.from_numpy(self.rows)
                own = tuple(tensor[at] for tensor in own)
            self.on_device = device, tuple(tensor.to(device) for tensor in own)
        tensors = self.on_device[1]
        if len(rows) == self.count and rows[0] == 0 and rows[-1] == self.count - 1 and (np.diff(rows) == 1).all():
            return tensors
        at = torch.from_numpy(rows.copy()).to(device)
        return tuple(tensor.index_select(0, at) for tensor in tensors)


def moved(batch: Any, device: torch.device) -> Any:
    """A batch on the device."""
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, Mapping):
        return {name: moved(value, device) for name, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)(moved(value, device) for value in batch)
    return batch


def _usable(data: Any) -> Any:
    """A dataset whose samples can be collated. A pair of arrays is one; those of Hugging Face give tensors."""
    if isinstance(data, tuple) and len(data) == 2 and not isinstance(data[0], Dataset):
        return TensorDataset(*(torch.as_tensor(part) for part in data))
    formatted = getattr(data, "with_format", None)
    if formatted is not None and hasattr(data, "features"):
        return formatted("torch")
    if not (hasattr(data, "__len__") and hasattr(data, "__getitem__")):
        expected = "a dataset with __len__ and __getitem__, or a pair of arrays (x, y)"
        raise TypeError(f"data of {type(data).__name__}: expected {expected}")
    return data


def as_batches(data: Any, clients: Sequence[Any] | None, collate: Collate | None) -> list[Batches]:
    """The data of every client."""
    if clients is not None:
        whole = _usable(data)
        return [Batches(whole, _rows(own, len(whole), client), collate) for client, own in enumerate(clients)]
    if isinstance(data, Dataset) or not isinstance(data, (list, tuple)) or _is_pair(data):
        raise TypeError("train is one dataset: clients= says which samples are whose, as gp.partition gives them")
    return [_of_subset(_usable(own), collate) for own in data]


def _is_pair(data: Any) -> bool:
    return isinstance(data, tuple) and len(data) == 2 and not hasattr(data[0], "__getitems__") and _is_array(data[0])


def _is_array(part: Any) -> bool:
    return isinstance(part, (np.ndarray, torch.Tensor))


def _of_subset(data: Any, collate: Collate | None) -> Batches:
    if isinstance(data, Subset) and isinstance(data.dataset, TensorDataset):
        return Batches(data.dataset, np.asarray(data.indices, dtype=np.int64), collate)
    return Batches(data, None, collate)


def _rows(own: Any, all: int, client: int) -> npt.NDArray[np.int64]:
    rows = np.asarray(own, dtype=np.int64)
    if rows.ndim != 1 or (rows.size and not (0 <= rows.min() and rows.max() < all)):
        raise ValueError(f"clients[{client}]: expected indices from 0 to {all - 1}")
    return rows


