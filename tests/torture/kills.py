#!/usr/bin/env python3
"""Kills runs at random instants, lets them go on, and compares what they leave with runs that were left alone.

Usage: tests/torture/kills.py PROGRAM [--scenarios N] [--kills K] [--seed S]

N random scenarios of the whole language (70 unless given), each that takes long enough killed K times (10), by SIGKILL at an instant
drawn from all of the run's time. A third of them is killed again while it goes on. Checkpoints are taken after
every few events, and every run goes on with 1, 2 or 7 threads. Files must be the same to the byte, but for how
fast the run was. Exit codes: 0 all passed, 1 something failed, 2 bad usage.
"""

import argparse
import csv
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

# The folder with the modules is source, and stays as it is.
sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "oracle"))

import generate  # noqa: E402

# A run that takes longer hangs.
LIMIT = 600
# A shorter run is over before it can be killed.
SHORTEST = 0.03
# Columns of runs.csv that tell how fast the machine was.
SECONDS = ("wall_seconds", "train_seconds", "evaluate_seconds")


def main():
    options = arguments()
    draws = random.Random(options.seed)
    killed = passed = resumed = 0
    wrong = []
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        folder = pathlib.Path(folder)
        for name in ("traces", "data"):
            source = ROOT / ("traces" if name == "traces" else "tests/data")
            (folder / name).symlink_to(source)
        for name, text in generate.everything(options.seed, options.scenarios).items():
            path = folder / f"{name}.toml"
            path.write_text(text)
            whole = folder / f"{name}-whole"
            began = time.monotonic()
            code, _ = run(options.program, path, whole, 1)
            took = time.monotonic() - began
            if code == 2 or took < SHORTEST:
                continue
            for turn in range(options.kills):
                out = folder / f"{name}-{turn}"
                every = draws.choice([1, 3, 20, 200])
                again = draws.random() < 0.3
                for more in [[], ["--resume"]][: 2 if again else 1]:
                    killed += kill(options.program, path, out, took * draws.random(), every, more)
                threads = draws.choice([1, 2, 7])
                again, said = run(options.program, path, out, threads, ["--resume"])
                problem = difference(whole, out) if again == code else f"exit code {again}"
                if problem:
                    wrong.append(f"{name} of seed {options.seed}, kill {turn}: {problem}\n{said}")
                else:
                    passed += 1
                    resumed += went_on(out)
    print(f"{killed} processes were killed; {resumed} cells went on from a checkpoint")
    for text in wrong:
        print(text)
    print(f"{passed} passed, {len(wrong)} failed")
    return 1 if wrong else 0


def command(program, path, out, threads, more):
    return [program, "--quiet", "run", path, "--threads", str(threads), "--out", out, *more]


def run(program, path, out, threads, more=()):
    done = subprocess.run(command(program, path, out, threads, more), capture_output=True, timeout=LIMIT)
    return done.returncode, done.stderr.decode(errors="replace")


def kill(program, path, out, after, every, more):
    """Starts a run and kills it after so many seconds: whether it was still there."""
    environment = dict(os.environ, GRUPPETTO_CHECKPOINT_EVENTS=str(every))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command(program, path, out, 2, more), env=environment, **quiet)
    time.sleep(after)
    gone = process.poll() is not None
    process.kill()
    process.wait()
    return not gone


def left(folder):
    """Everything that a run leaves, by name, without how fast it was."""
    files = {}
    for path in folder.iterdir():
        content = path.read_bytes() if path.is_file() else b"a folder"
        if path.name == "summary.json":
            summary = json.loads(content)
            for cell in summary["variants"]:
                cell.pop("throughput")
            content = json.dumps(summary)
        elif path.name == "runs.csv":
            content = without_seconds(content.decode())
        elif path.name == "timeline.json.gz":
            content = gzip.decompress(content)
        elif path.name in ("report.html", "lock"):
            continue
        files[path.name] = content
    return files


def without_seconds(table):
    """Rows without the columns that tell how fast the machine was."""
    rows = list(csv.DictReader(table.splitlines()))
    return [{key: cell for key, cell in row.items() if key not in SECONDS} for row in rows]


def difference(one, other):
    one, other = left(one), left(other)
    if one.keys() != other.keys():
        return f"files: {sorted(one.keys() ^ other.keys())}"
    return next((f"{name} differs" for name in sorted(one) if one[name] != other[name]), None)


def went_on(folder):
    cells = json.loads((folder / "summary.json").read_text())["variants"]
    return sum(it["throughput"]["trained_steps"] < it["throughput"]["local_steps"] for it in cells)


def arguments():
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shape, usage=argparse.SUPPRESS)
    parser.add_argument("program")
    parser.add_argument("--scenarios", type=int, default=70)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    return options


if __name__ == "__main__":
    sys.exit(main())
