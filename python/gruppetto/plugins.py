"""What you bring, by name: classes with the same meaning as the traits in Rust.

A hook sees columns as read-only NumPy arrays, and draws from the generator that it is handed: then the same bits come
out on any number of threads, and of a run that was killed and goes on. An exception ends the run.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from . import _native

if TYPE_CHECKING:
    from .observer import Observer

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
