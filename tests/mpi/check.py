#!/usr/bin/env python3
"""Runs scenarios on the ranks of an MPI job and compares what they leave with runs of one process.

Usage: tests/mpi/check.py PROGRAM [--long] [--scenarios N] [--kills K] [--seed S]

PROGRAM is a gruppetto that was built with the feature mpi. Two scenarios are run by one process and by two worker
ranks, and jobs that must be refused are. With --long, which takes ten minutes: N random scenarios of the whole
language (60 unless given) on 1, 2 and 4 worker ranks; every rank of a job is killed in turn, K times (3), and the
run goes on with another number of ranks; a job is told to end; and, as root on Linux, two network namespaces with a
slow and lossy link between them. Files must be the same to the byte, but for how fast the run was.
Exit codes: 0 all passed, 1 something failed, 2 bad usage.
"""

import argparse
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
sys.path[:0] = [str(ROOT / "tests" / name) for name in ("mpi", "torture", "oracle")]

import generate  # noqa: E402
import jobs  # noqa: E402
import namespaces  # noqa: E402
import refusals  # noqa: E402
from kills import difference  # noqa: E402

# All that a job carries to and fro: starts in both precisions, corrections, what compression left over.
SMALL = """
name = "small"
stop.rounds = 12
[task]
kind = "synthetic"
clients = 8
[client]
batch = 10
lr = 0.02
work = { until = "deadline" }
[server]
close = { deadline = "2s" }
[[fleet.class]]
name = "phones"
step_time = { lognormal = { median = "60ms", sigma = 0.8 } }
uplink = "10Mbps"
[[variant]]
name = "plain"
[[variant]]
name = "proximal"
set = { client.prox = 0.3, client.momentum = 0.5 }
[[variant]]
name = "scaffold"
set = { client.variance_reduction = "scaffold" }
[[variant]]
name = "compressed"
set = { client.compression = { top_k = 0.1, error_feedback = true } }
[[variant]]
name = "async"
set = { server.close = { buffer = 3 }, server.concurrency = 5, client.work = { steps = 15 } }
"""


def main():
    options = arguments()
    wrong = []

    def tell(name, problem):
        if problem:
            wrong.append(name)
            print(f"{name}: {problem}", flush=True)

    with tempfile.TemporaryDirectory(prefix="mpi-") as folder:
        folder = pathlib.Path(folder)
        for name, source in (("traces", "traces"), ("data", "tests/data")):
            (folder / name).symlink_to(ROOT / source)
        texts = {"small": SMALL}
        if options.long:
            texts |= generate.everything(options.seed, options.scenarios)
        for name, text in texts.items():
            path = folder / f"{name}.toml"
            path.write_text(text)
            for workers in (1, 2, 4) if options.long else (2,):
                tell(f"{name} on {workers} ranks", on_ranks(options.program, path, workers))
        for name, problem in refusals.all_of_them(options.program, folder):
            tell(name, problem)
        if options.long:
            for name, problem in killed(options, folder, texts):
                tell(name, problem)
            tell("told to end", told_to_end(options.program, folder))
            tell("two machines", namespaces.run(options.program, folder))
    print(f"{len(wrong)} failed")
    return 1 if wrong else 0


def plain(program, path):
    """What one process leaves, and its exit code; it is run once."""
    out = path.with_suffix("")
    code = path.with_suffix(".code")
    if not code.exists():
        done = subprocess.run(jobs.alone(program, path, out), capture_output=True, timeout=jobs.LIMIT)
        code.write_text(str(done.returncode))
    return out, int(code.read_text())


def on_ranks(program, path, workers):
    whole, code = plain(program, path)
    if code == 2:
        return "one process refuses it"
    out = path.with_name(f"{path.stem}-{workers}")
    again, said = jobs.run(program, path, out, workers)
    if again != code:
        return f"exit code {again}, not {code}\n{said}"
    return difference(whole, out)


def killed(options, folder, texts):
    """Kills every rank in turn, at random instants, and lets the runs go on with other numbers of ranks."""
    draws = random.Random(options.seed)
    path = folder / "long.toml"
    path.write_text(SMALL.replace('"small"', '"long"').replace("rounds = 12", "rounds = 200"))
    whole, _ = plain(options.program, path)
    began = time.monotonic()
    jobs.run(options.program, path, folder / "timed", 2)
    took = time.monotonic() - began
    for turn in range(options.kills):
        for rank in range(3):
            out = folder / f"killed-{turn}-{rank}"
            job = jobs.Job(options.program, path, out, 2, {"GRUPPETTO_CHECKPOINT_EVENTS": "20"})
            time.sleep(0.2 + took * draws.random() * 0.8)
            was_there = job.kill(rank)
            code = job.wait()
            workers = draws.choice([1, 3, 4])
            again, said = jobs.run(options.program, path, out, workers, ["--resume"])
            problem = difference(whole, out) if again == 0 else f"exit code {again}\n{said}"
            if was_there and code == 0:
                problem = "the job went on without it"
            yield f"rank {rank} killed, turn {turn}", problem


def told_to_end(program, folder):
    """SIGTERM for rank 0: the job is over within seconds, and goes on without MPI."""
    path, out = folder / "long.toml", folder / "ended"
    job = jobs.Job(program, path, out, 2, {})
    # From when it has a folder on it hears signals.
    while not list(folder.glob("ended*")) and job.process.poll() is None:
        time.sleep(0.02)
    time.sleep(0.5)
    if not job.signal(0, "TERM"):
        return "it was over before"
    began = time.monotonic()
    code = job.wait()
    if code != 130 or time.monotonic() - began > 5:
        return f"exit code {code} after {time.monotonic() - began:.1f} s"
    done = subprocess.run([*jobs.alone(program, path, out), "--resume"], capture_output=True, timeout=jobs.LIMIT)
    if done.returncode:
        return f"going on: exit code {done.returncode}: {done.stderr.decode()}"
    return difference(folder / "long", out)


def arguments():
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shape, usage=argparse.SUPPRESS)
    parser.add_argument("program")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--scenarios", type=int, default=60)
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    return options


if __name__ == "__main__":
    sys.exit(main())
