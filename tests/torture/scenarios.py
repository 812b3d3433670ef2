#!/usr/bin/env python3
"""Thousands of broken scenarios: each is refused with a word, or run.

Usage: tests/torture/scenarios.py PROGRAM [--count N] [--seed S] [--jobs J] [--only NUMBER]

20,000 unless given, made of random scenarios of the whole language and of the shipped ones. `check` judges each;
what it accepts is run for at most three rounds, three of four times without training, so that a run takes no longer
than its devices ask for. One that goes on after 3 s all the same is interrupted, and must end. Exit codes: 0 all passed, 1 something failed, 2 bad usage.
"""

import argparse
import pathlib
import random
import sys

# The folder with the modules is source, and stays as it is.
sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))

import generate  # noqa: E402
from cases import ROOT, Case, Torture  # noqa: E402
from toml_mutations import Scenarios  # noqa: E402

# Seconds that a run may go on before it is asked to end: three rounds of devices that are a million times slower than
# others may be much to simulate.
PATIENCE = 3
LINKS = {"traces": ROOT / "traces", "data": ROOT / "tests/data", "splits": ROOT / "scenarios/splits"}


def main():
    options = arguments()
    shipped = [path.read_text() for path in sorted((ROOT / "scenarios").rglob("*.toml"))]
    shipped = [text.replace("../", "") for text in shipped]
    # What needs libtorch or a data set would be refused for that alone.
    native = [text for text in shipped if "\nmodel = " not in text and "\ndataset = " not in text]
    scenarios = Scenarios([*generate.everything(options.seed, 120).values(), *native], shipped)

    def make(number):
        draws = random.Random(f"scenarios {options.seed} {number}")
        content = scenarios.broken(draws)
        short = ["--set", "stop.rounds=3"]
        # Without a bound on rounds `check` sees what the scenario itself says.
        checks = [["check", "s.toml"], ["check", "s.toml", *short]]
        training = [] if draws.random() < 0.25 else ["--timing-only"]
        threads = ["--threads", str(draws.choice([1, 2]))]
        run = ["--quiet", "run", "s.toml", "--out", "out", *short, *training, *threads]
        kind = "scenario, trained" if not training else "scenario, timing only"
        return Case(kind, {"s.toml": content}, LINKS, [*checks, run])

    numbers = range(options.count) if options.only is None else [options.only]
    return 1 if Torture(options.program, make, options.jobs, PATIENCE).run(numbers) else 0


def arguments():
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shape, usage=argparse.SUPPRESS)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--only", type=int, metavar="NUMBER")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
