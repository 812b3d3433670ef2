"""Runs: making them, not making them twice, and reading what they left.

A run lies in runs/paper/NAME. Beside its own files we leave a note there, `.made-from`, with what it was
made from: the scenario's text, the program and the summary that came out. If all three are still the
same the run is not made again.
"""

import csv
import hashlib
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path("runs", "paper")
NOTE = ".made-from"

# How `gruppetto run` ends.
DONE, FAILED, NOT_MET, INTERRUPTED = 0, 1, 3, 130


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def made_from(program, scenario):
    """What identifies the inputs of a run. The program is large: its size and time must do."""
    stat = program.stat()
    return {"scenario": digest(scenario), "program": [stat.st_size, stat.st_mtime_ns]}


def note_of(name):
    """The note beside a run, if the run is still the one it was written for."""
    folder = ROOT / name
    try:
        note = json.loads((folder / NOTE).read_text())
        # Somebody may have run it again by hand since.
        return note if note["summary"] == digest(folder / "summary.json") else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def is_current(program, scenario, name):
    note = note_of(name)
    run = read(name)
    if not note or run is None or run.summary.get("status") != "complete":
        return False
    inputs = made_from(program, scenario)
    return all(note.get(key) == value for key, value in inputs.items())


def make(program, scenario, name):
    """Runs a scenario. Returns the exit code, the seconds it took, and the output if it failed."""
    folder = ROOT / name
    note = folder / NOTE
    inputs = made_from(program, scenario)
    # A folder with nothing but a note would be a stranger's to gruppetto, which then refuses it.
    if note.exists():
        note.unlink()
    begin = time.monotonic()
    command = [str(program), "run", str(scenario), "--out", str(folder), "--force", "--quiet"]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        try:
            code = process.wait()
        except KeyboardInterrupt:
            # Ctrl-C reaches the run too, which ends after its next aggregation.
            process.wait()
            code = INTERRUPTED
        seconds = time.monotonic() - begin
        # An error goes to stderr; that a variant diverged is said at the end of the table.
        said = _text(errors) or "\n".join(_text(output).splitlines()[-4:])
    if code in (DONE, NOT_MET):
        written = dict(inputs, summary=digest(folder / "summary.json"), seconds=seconds)
        note.write_text(json.dumps(written, indent=2) + "\n")
        said = ""
    return code, seconds, said


def _text(file):
    file.seek(0)
    return file.read().decode("utf-8", "replace").strip()


def least_bound(program, scenario):
    """The variant that the theory would choose, by `gruppetto theory`; None if it does not say."""
    command = [str(program), "theory", str(scenario), "--json"]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120)
        found = json.loads(done.stdout).get("least_bound")
    except (OSError, ValueError, AttributeError, subprocess.TimeoutExpired):
        return None
    if isinstance(found, dict):
        found = found.get("variant") or found.get("name")
    return found if isinstance(found, str) else None


def read(name):
    """The run in runs/paper/NAME, or None if there is none that can be read."""
    folder = ROOT / name
    try:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return Run(name, folder, summary) if isinstance(summary, dict) else None


class Run:
    """What a run left. `rounds.csv` can be long, and is read when a curve of it is asked for."""

    def __init__(self, name, folder, summary):
        self.name, self.folder, self.summary = name, folder, summary
        self.note = note_of(name)
        # One for each variant and seed that is over; in a run that goes on there may be none yet.
        self.ends = summary.get("variants") or []
        self._rows = None

    @property
    def status(self):
        return self.summary.get("status", "incomplete")

    @property
    def expectations(self):
        return self.summary.get("expect") or []

    @property
    def seconds(self):
        """How long it took; for a run that was made by hand, the time its variants took."""
        if "seconds" in self.note:
            return self.note["seconds"]
        walls = [_dig(v, "throughput.wall_seconds") for v in self.ends]
        return sum(wall for wall in walls if wall is not None)

    def variants(self):
        """Names, in the order of the scenario."""
        return list(dict.fromkeys(v["name"] for v in self.ends))

    def seeds(self, variant):
        return [v for v in self.ends if v["name"] == variant]

    def values(self, variant, path):
        """A quantity of every seed of a variant, such as `metrics.distance` or `schedule.A`."""
        found = [_dig(seed, path) for seed in self.seeds(variant)]
        return [value for value in found if isinstance(value, (int, float))]

    def pairs(self, variant, x, y):
        """Two quantities of every seed that has both."""
        found = [(_dig(seed, x), _dig(seed, y)) for seed in self.seeds(variant)]
        return [pair for pair in found if None not in pair]

    def diverged(self, variant):
        return any(seed.get("status") == "diverged" for seed in self.seeds(variant))

    def mean(self, variant, path):
        values = self.values(variant, path)
        return statistics.fmean(values) if values else None

    def std(self, variant, path):
        values = self.values(variant, path)
        return statistics.stdev(values) if len(values) > 1 else None

    def curves(self, variant, x, y):
        """For each seed the points (x, y) where y was evaluated, from before the first round on."""
        by_seed = {}
        for seed in self.seeds(variant):
            start = _dig(seed, "start." + y)
            by_seed[str(seed["seed"])] = [] if start is None else [(0.0, start)]
        for row in self._read_rows().get(variant, ()):
            if row.get(y):
                by_seed.setdefault(row["seed"], []).append((float(row[x]), float(row[y])))
        return list(by_seed.values())

    def _read_rows(self):
        """The rows of rounds.csv by variant."""
        if self._rows is None:
            self._rows = {}
            try:
                with open(self.folder / "rounds.csv", newline="", encoding="utf-8") as file:
                    for row in csv.DictReader(file):
                        self._rows.setdefault(row["variant"], []).append(row)
            except OSError:
                pass  # a page with an empty chart tells it
        return self._rows


def _dig(value, path):
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value
