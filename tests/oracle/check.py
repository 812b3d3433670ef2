#!/usr/bin/env python3
"""Compares the program with an oracle: what the documentation and the FedNova paper say must come out.

Usage: tests/oracle/check.py PROGRAM [--count N] [--from K] [--jobs J]
       tests/oracle/check.py PROGRAM --only K     one case; its scenario and run stay in target/oracle
       tests/oracle/check.py PROGRAM --self-test  alters the program's output, and sees that it is noticed
       tests/oracle/check.py PROGRAM --softmax    replays softmax regression (pure Python)
       tests/oracle/check.py PROGRAM --torch      replays a network in PyTorch; needs a program with libtorch

README.md beside this file says what is derived from where. Exit codes: 0 all passed, 1 something failed,
2 bad usage.
"""

import argparse
import concurrent.futures
import functools
import os
import pathlib
import sys

# The folder with the modules is source, and stays as it is.
sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import case  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def main():
    options = arguments()
    if options.self_test:
        import selftest

        wrong = [f"{form} is in none of the first 100 cases" for form in selftest.uncovered()]
        wrong += [f"{it} was not noticed" for it in selftest.unnoticed(options.program)]
        return report(len(selftest.SPOILT) * len(selftest.CASES) + 1, wrong)
    if options.softmax:
        import softmax

        return report(*softmax.check(options.program))
    if options.torch:
        import network

        return report(*network.check(options.program))
    if options.only is not None:
        folder = ROOT / "target" / "oracle"
        wrong = case.check(options.program, options.only, folder)
        print(f"{folder / f'case-{options.only}.toml'}, run in {folder / f'case-{options.only}'}")
        return report(1, [wrong] if wrong else [])
    return report(options.count, sorted(failures(options)))


def failures(options):
    """Runs the cases side by side, and says of every failure how to see it again."""
    numbers = range(options.start, options.start + options.count)
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        found = pool.map(functools.partial(case.check, options.program), numbers, chunksize=5)
        for number, wrong in zip(numbers, found):
            if wrong:
                again = f"tests/oracle/check.py {options.program} --only {number}"
                yield f"case {number}: {wrong}\n  again: {again}"


def report(count, wrong):
    for text in wrong:
        print(text)
    print(f"{count - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


def arguments():
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shape, usage=argparse.SUPPRESS)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--from", type=int, default=1, dest="start")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", type=int)
    for name in ("--self-test", "--softmax", "--torch"):
        parser.add_argument(name, action="store_true")
    options = parser.parse_args()
    program = pathlib.Path(options.program).resolve()
    if not (program.is_file() and os.access(program, os.X_OK)):
        parser.error(f"{options.program} is not a program")
    options.program = str(program)
    return options


if __name__ == "__main__":
    # The programs give way to whatever else this machine does.
    os.nice(10)
    sys.exit(main())
