"""A progress bar: tqdm's where it is installed, in terminals and notebooks, else a line on the standard error."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

Show = Callable[[int, int, str, int, int, float], None]


@contextlib.contextmanager
def bar(wanted: bool | None) -> Iterator[Show | None]:
    """What shows how far a run is; ``None`` where it is not seen, unless it is wanted."""
    if wanted is None:
        wanted = sys.stderr.isatty() or "ipykernel" in sys.modules
    if not wanted:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield _line
        print(file=sys.stderr)
        return
    with tqdm(total=1.0, bar_format="{desc} {percentage:3.0f}% |{bar}| {elapsed}<{remaining}") as shown:

        def show(cell: int, cells: int, variant: str, seed: int, round: int, part: float) -> None:
            shown.set_description_str(f"{variant} seed {seed}, round {round}", refresh=False)
            shown.n = (cell + part) / cells
            shown.refresh()

        yield show
        shown.n = 1.0
        shown.refresh()


def _line(cell: int, cells: int, variant: str, seed: int, round: int, part: float) -> None:
    text = f"{100 * (cell + part) / cells:3.0f} % {variant} seed {seed}, round {round}"
    print(f"\r{text:<60}", end="", file=sys.stderr, flush=True)
