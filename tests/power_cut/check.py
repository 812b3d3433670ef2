#!/usr/bin/env python3
"""Cuts the power at every instant of a run, as far as a disk could tell, and lets the run go on.

Usage: tests/power_cut/check.py PROGRAM [--without PART]

strace writes down every call of some small runs that changes a file. From that follows what a disk holds for certain
after each call: what was synced, and nothing else (disk.py has the two worst cases). Each such state is laid out in
a folder, and `gruppetto run --resume` goes on there. The files that it leaves must be those of a run that was
left alone; where the state says "complete" already, they must be there. Of a run that replaces another with --force,
the old one or the new one must be there, whole.

Then the syncs of one file or folder are taken out of what was written down, of one after the other: each time a
state must turn up that is wrong. If none does, the check would not notice either if the program forgot that sync.

  --without PART   leaves out the syncs of paths with PART in them, to see what that breaks

Exit codes: 0 all is well, 1 something is lost, 2 bad usage.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

# The folder with the modules is source, and stays as it is.
sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "torture")]

import calls  # noqa: E402
import disk  # noqa: E402
from kills import difference, left  # noqa: E402

SCENARIO = """
name = "cut"
repeats = 2
seed = {seed}
stop.rounds = 3
[task]
clients = 4
features = 3
classes = 2
size = 10
[client]
lr = 0.1
work = {{ steps = 2 }}
variance_reduction = "scaffold"
[server]
close = "all"
[[fleet.class]]
name = "phones"
step_time = {{ uniform = ["1s", "3s"] }}
"""
# Seeds: one cell each.
CELLS = 2
# Each of these is kept by syncs of its own.
SYNCED = [
    "summary.json",
    "scenario.toml",
    "rounds.csv",
    "clients.csv",
    "runs.csv",
    "latency.hlog",
    "timeline.json.gz",
    "findings.json",
    "report.html",
    "model-fednova-1.safetensors",
    "cells/finished.jsonl",
    "checkpoint.safetensors",
    "vectors-0.safetensors",
    "/log",
    "/runs/",
    "/runs/cut/",
    "/runs/cut/cells/",
    "/runs/cut/cells/0/",
]


def main():
    options = arguments()
    with tempfile.TemporaryDirectory(prefix="power-cut-") as folder:
        folder = pathlib.Path(folder).resolve()
        runs = [Traced(options.program, folder, "a new run", {}), Traced(options.program, folder, "--force", {"old": 2})]
        states = {}
        problems = [text for run in runs for text in run.cut(states, options.without)]
        for text in problems:
            print(text)
        print(f"{len(states)} states of the disk after a cut, {len(problems)} of them wrong")
        if problems or options.without:
            return 1 if problems else 0
        unnoticed = [part for part in SYNCED if not any(run.cut(states, part, first=True) for run in runs)]
        for part in unnoticed:
            print(f"without the syncs of {part} every state was still right: nothing shows that they are needed")
        print(f"{len(SYNCED) - len(unnoticed)} of {len(SYNCED)} syncs that were taken out were noticed")
    return 1 if unnoticed else 0


class Traced:
    """A run under strace: what it did, and what it should leave."""

    def __init__(self, program, folder, name, other):
        self.program, self.name = program, name
        home = pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.home, self.scenario = home, home / "cut.toml"
        self.scenario.write_text(SCENARIO.format(seed=1))
        self.disk_root = home / "disk"
        self.disk_root.mkdir()
        self.whole, self.old = home / "whole", None
        run(program, self.scenario, self.whole)
        more = []
        if other:
            (home / "old.toml").write_text(SCENARIO.format(seed=other["old"]))
            self.old, more = home / "old", ["--force"]
            run(program, home / "old.toml", self.old)
            shutil.copytree(self.old, self.disk_root / "runs" / "cut")
        self.log = home / "calls"
        command = [program, "--quiet", "run", self.scenario, "--threads", "1", "--out", self.disk_root / "runs" / "cut", *more]
        self.before = {}
        for path in sorted(self.disk_root.rglob("*")):
            self.before[str(path)] = path.read_bytes() if path.is_file() else None
        environment = dict(os.environ, GRUPPETTO_CHECKPOINT_EVENTS="5")
        code = calls.trace(command, self.log, env=environment, stdout=subprocess.DEVNULL)
        assert code == 0, f"the run ended with {code}"
        self.calls = list(calls.calls(self.log))

    def start(self):
        """The disk as it was before the run."""
        drive = disk.Disk(str(self.disk_root))
        for path, content in self.before.items():
            entry = disk.Folder() if content is None else disk.File()
            drive.put(path, entry)
            if content is not None:
                entry.now += content
        def sync(entry):
            entry.sync()
            for below in entry.now.values() if isinstance(entry, disk.Folder) else ():
                sync(below)
        sync(drive.top)
        return drive

    def cut(self, known, without=None, first=False):
        """What is wrong with the states after each call. Without the syncs of some paths, if asked."""
        drive, problems = self.start(), []
        replay = calls.Replay(drive, disk)
        # Steps that are still to be trained, by how names are kept: as the run goes on, never more.
        to_train = {}
        for number, (call, text, result) in enumerate(self.calls):
            synced = replay.do(call, text, result)
            if synced is not None:
                what = drive.find(synced)
                shown = synced + ("/" if isinstance(what, disk.Folder) else "")
                # What is written beside a file and renamed is that file.
                shown = shown.replace("/.", "/").removesuffix(".partial")
                if without is None or not shown.endswith(without):
                    what.sync()
                    lost = isinstance(what, disk.Folder) and not drive.is_kept(synced)
                    if lost:
                        problems.append(f"{self.name}, call {number}: {shown} was synced, and is not in its own folder")
            if problems and first:
                return problems
            is_last = number + 1 == len(self.calls)
            for names in disk.NAMES:
                state = drive.after_a_cut(names)
                key = (self.name, is_last, *((path, content) for path, content in state.items()))
                if key not in known:
                    known[key] = self.after(state, is_last)
                problem, steps = known[key]
                if steps is not None and steps > to_train.setdefault(names, [steps])[-1]:
                    problem = f"{steps} steps are to be trained again, {to_train[names][-1]} a moment before"
                if steps is not None:
                    to_train[names].append(steps)
                if problem:
                    problems.append(f"{self.name}, {names}, after call {number} ({call}): {problem}")
        for names, steps in to_train.items():
            # Two checkpoints in every cell, and its end.
            if len(set(steps)) < CELLS * 3:
                problems.append(f"{self.name}, {names}: {len(set(steps))} different numbers of steps left, too few")
        return problems

    def after(self, state, is_last):
        """What is lost if the disk has this state when the power is back, or None; and what is left to train."""
        root = self.home / "after"
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir()
        for path, content in state.items():
            (root / path).mkdir() if content is None else (root / path).write_bytes(content)
        out = root / "runs" / "cut"
        if is_last and not (out / "summary.json").exists():
            return "the run was over, and there is no summary.json", None
        if (out / "summary.json").exists():
            problem = self.says_complete(out, is_last)
            if problem:
                return problem, None
        over = lines(out / "cells" / "finished.jsonl")
        code, said = run(self.program, self.scenario, out, "--resume")
        if code == 0:
            cells = json.loads((out / "summary.json").read_text())["variants"]
            steps = sum(cell["throughput"]["trained_steps"] for cell in cells[over:])
            is_over = (root / "was-complete").exists()
            return difference(self.whole, out), 0 if is_over else steps
        if self.old and "its scenario is another one" in said:
            return (is_last and "the old run is there still") or difference(self.old, out), None
        return f"it does not go on: exit code {code}: {said}", None

    def says_complete(self, out, is_last):
        try:
            status = json.loads((out / "summary.json").read_text())["status"]
        except ValueError:
            return "summary.json is broken"
        if status != "complete":
            return "the run was over, and says that it is not" if is_last else None
        if not (out / "cells" / "finished.jsonl").exists():
            (out.parent.parent / "was-complete").touch()
        problems = [self.lacks(out, whole, is_last) for whole in (self.whole, self.old) if whole]
        return None if None in problems else f"it says complete, and {problems[0]}"

    def lacks(self, out, whole, is_last):
        """Which file of a whole run is not in `out`, or None. Until it is over, the page may be missing."""
        try:
            there = left(out)
        except (EOFError, OSError, ValueError) as error:
            return str(error)
        for name, content in left(whole).items():
            if there.get(name) != content and (is_last or name != "findings.json"):
                return f"{name} is not what it should be"
        page = (out / "report.html").read_text() if (out / "report.html").exists() else ""
        return "report.html is cut off" if is_last and "</html>" not in page else None


def lines(path):
    """How many whole lines a file has."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def run(program, scenario, out, *more):
    command = [program, "--quiet", "run", scenario, "--threads", "1", "--out", out, *more]
    done = subprocess.run(command, capture_output=True, timeout=60)
    return done.returncode, done.stderr.decode(errors="replace")


def arguments():
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shape, usage=argparse.SUPPRESS)
    parser.add_argument("program")
    parser.add_argument("--without")
    options = parser.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    return options


if __name__ == "__main__":
    sys.exit(main())
