"""A progress bar: a line in terminals, a bar in notebooks. It is gone when the run is over."""

from __future__ import annotations

import contextlib
import html
import importlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

Show = Callable[[int, int, str, int, int, float], None]

#: Shorter runs show nothing.
PATIENCE = 0.3
#: How often a bar is drawn at most.
PERIOD = 0.1
WIDTH = 24


@contextlib.contextmanager
def bar(wanted: bool | None) -> Iterator[Show | None]:
    """What shows how far a run is; ``None`` where it would not be seen, unless it is wanted."""
    notebook = _in_notebook()
    if wanted is None:
        wanted = sys.stderr.isatty() or notebook
    if not wanted:
        yield None
        return
    draw: Callable[[float, str], None] = _Cell() if notebook else _line
    began = drawn = time.monotonic()
    shown = False

    def show(cell: int, cells: int, variant: str, seed: int, round: int, part: float) -> None:
        nonlocal drawn, shown
        now = time.monotonic()
        if now - began < PATIENCE or now - drawn < PERIOD:
            return
        drawn, shown = now, True
        done = (cell + part) / cells
        left = f", {(now - began) * (1 - done) / done:.0f} s left" if done > 0.02 else ""
        draw(done, f"{variant} seed {seed}, round {round}{left}")

    try:
        yield show
    finally:
        if shown:
            draw(1.0, "")


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


def _line(done: float, text: str) -> None:
    """One line of the terminal, written over; an empty one at the end."""
    full = round(done * WIDTH)
    line = f"{100 * done:3.0f} % {'━' * full}{'─' * (WIDTH - full)} {text}"[:79] if text else ""
    print(f"\r{line:<79}" if line else f"\r{'':79}\r", end="", file=sys.stderr, flush=True)


class _Cell:
    """An output of the cell that changes, without any widgets."""

    def __init__(self) -> None:
        self.handle: Any = None

    def __call__(self, done: float, text: str) -> None:
        ipython: Any = importlib.import_module("IPython.display")
        page = (
            f'<progress max="1" value="{done:.4f}" style="width: 16em; vertical-align: middle"></progress> '
            f"{100 * done:.0f} % {html.escape(text)}"
        )
        shown = ipython.HTML(page if text else "")
        if self.handle is None:
            self.handle = ipython.display(shown, display_id=True)
        else:
            self.handle.update(shown)
