"""The command ``gruppetto``, as pip installs it."""

from __future__ import annotations

import contextlib
import runpy
import signal
import sys
import traceback
from typing import Any


def main() -> int:
    """Runs the command line; the files of ``--plugin`` are run first, and what they bring can be named."""
    from . import _native

    # The simulator ends a run in order by itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with contextlib.ExitStack() as stack:

        def bring(files: list[str], threads: int | None) -> dict[str, Any]:
            from ._run import training
            from .plugins import registered

            for file in files:
                runpy.run_path(str(file), run_name="gruppetto_plugin")
            return stack.enter_context(training(registered((), ()), None, threads))

        try:
            return _native.command(["gruppetto", *sys.argv[1:]], bring)
        except OSError as error:
            print(f"error: --plugin: {error}\n  = help: --plugin mine.py", file=sys.stderr)
            return 2
        except Exception:
            # What a plug-in raised, with its place in the file.
            traceback.print_exc()
            return 1
