"""The command ``gruppetto``, as pip installs it."""

from __future__ import annotations

import runpy
import signal
import sys


def main() -> int:
    """Runs the command line; with ``--plugin FILE`` the file is run first, and what it brings can be named."""
    from . import _native

    arguments = sys.argv[1:]
    files = []
    while "--plugin" in arguments:
        place = arguments.index("--plugin")
        if place + 1 == len(arguments):
            print("error: --plugin needs a file\n  = help: --plugin mine.py", file=sys.stderr)
            return 2
        files.append(arguments[place + 1])
        del arguments[place : place + 2]
    if files:
        return _with_plugins(files, arguments)
    # The simulator ends a run in order by itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.command(["gruppetto", *arguments])


def _with_plugins(files: list[str], arguments: list[str]) -> int:
    import argparse

    from . import RunError, ScenarioError, run

    parser = argparse.ArgumentParser(prog="gruppetto run", description="Runs a scenario with plug-ins from Python.")
    parser.add_argument("command", choices=["run"])
    parser.add_argument("file")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--out")
    parser.add_argument("--force", action="store_true")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--timing-only", action="store_true")
    options = parser.parse_args(arguments)
    for file in files:
        runpy.run_path(file, run_name="gruppetto_plugin")
    try:
        done = run(
            options.file,
            set=options.set,
            seed=options.seed,
            out=options.out or True,
            force=options.force,
            resume=options.resume,
            threads=options.threads,
            timing_only=options.timing_only,
        )
    except ScenarioError as error:
        print(error, file=sys.stderr)
        return 2
    except RunError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    print(f"written to {done.path}; see {done.report}")
    return 0
