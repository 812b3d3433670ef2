"""A dict as TOML: what a scenario needs of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def dumps(scenario: Mapping[str, Any]) -> str:
    """The text of a scenario.

    >>> print(dumps({"name": "a", "stop": {"rounds": 3}, "client.lr": 0.5}))
    name = "a"
    stop = { rounds = 3 }
    client.lr = 0.5
    """
    return "\n".join(f"{_key(key)} = {value(entry)}" for key, entry in scenario.items())


def value(entry: Any) -> str:
    """A value as TOML writes it.

    >>> value([True, 2, "30s", {"plugin": "mine"}])
    '[true, 2, "30s", { plugin = "mine" }]'
    """
    if isinstance(entry, bool):
        return "true" if entry else "false"
    if isinstance(entry, str):
        # A JSON string is a TOML string, but for one character.
        return json.dumps(entry, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(entry, Mapping):
        inside = ", ".join(f"{_key(key)} = {value(below)}" for key, below in entry.items())
        return "{ " + inside + " }" if inside else "{}"
    if isinstance(entry, (list, tuple)):
        return "[" + ", ".join(value(below) for below in entry) + "]"
    if hasattr(entry, "item"):
        return value(entry.item())
    if isinstance(entry, int):
        return str(entry)
    if isinstance(entry, float):
        return repr(entry)
    raise TypeError(f"a scenario cannot hold {entry!r}, a {type(entry).__name__}: expected a string, number, bool, list or dict")


def _key(key: str) -> str:
    """A key as it is, dots included: they lead into tables, as in TOML itself."""
    return key
