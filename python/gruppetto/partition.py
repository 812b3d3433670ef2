"""How samples are spread over clients: the same draws, to the index, as ``[task.partition]`` of a scenario.

>>> import gruppetto as gp
>>> [own.tolist() for own in gp.partition.shards([0, 0, 0, 0, 1, 1, 1, 1], clients=2, each=1, seed=1)]
[[4, 5, 6, 7], [0, 1, 2, 3]]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native

Indices = list[npt.NDArray[np.uint32]]


def _given(scheme: str, labels: Any, clients: int, parameter: float, min_size: int, seed: int) -> Indices:
    array = np.asarray(labels)
    if array.ndim != 1 or array.dtype.kind not in "iub" or (array.size and array.min() < 0):
        raise ValueError(f"labels: found {array.dtype} of shape {array.shape}, expected a list of whole numbers from 0 on")
    if clients < 1:
        raise ValueError(f"clients: found {clients}, expected 1 or more")
    numbers = np.ascontiguousarray(array, dtype="<u4").tobytes()
    given = _native.partition(scheme, numbers, (clients, float(parameter), min_size, seed))
    return [np.frombuffer(own, dtype=np.uint32) for own in given]


def dirichlet(labels: Any, clients: int, alpha: float, seed: int = 1, min_size: int = 10) -> Indices:
    """Of each class, client i gets a part p_i, with p ~ Dirichlet(α, …, α)."""
    if not alpha > 0:
        raise ValueError(f"alpha: found {alpha}, expected a number above 0")
    return _given("dirichlet", labels, clients, alpha, min_size, seed)


def iid(samples: Any, clients: int, seed: int = 1, min_size: int = 1) -> Indices:
    """The same number for everybody, at random, of so many samples or of these labels."""
    labels = np.zeros(samples, dtype=np.uint32) if isinstance(samples, (int, np.integer)) else np.zeros(len(samples), dtype=np.uint32)
    return _given("iid", labels, clients, 0.0, min_size, seed)


def shards(labels: Any, clients: int, each: int = 2, seed: int = 1, min_size: int = 1) -> Indices:
    """Sorted by label and cut into pieces, of which everybody gets ``each`` at random."""
    if each < 1:
        raise ValueError(f"each: found {each}, expected 1 or more")
    return _given("shards", labels, clients, each, min_size, seed)


def natural(owners: Any) -> Indices:
    """As the data says: the owner of every sample, by any name. Clients are in the order in which they first appear."""
    names: dict[Any, int] = {}
    of = [names.setdefault(owner, len(names)) for owner in np.asarray(owners).tolist()]
    return _given("natural", np.array(of, dtype=np.uint32), max(1, len(names)), 0.0, 1, 1)
