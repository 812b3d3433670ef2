"""Compares what a run left (docs/outputs.md) with what was predicted, cell by cell."""

import csv
import json
import math
import pathlib

import totals
from predict import safetensors
from predict.quadratic import apart


class Different(Exception):
    """The first difference."""


class Comparison:
    """Times may be `slack` nanoseconds apart, numbers `part` of themselves or of 1: sums round differently."""

    def __init__(self, found, slack=0, part=1e-9):
        self.found, self.slack, self.part = found, slack, part
        # Of a run that diverges, the model is compared until then: what sums round differently grows faster.
        limit = 1000 * found.start["train_loss"]
        self.diverges = next((row["round"] for row in found.rows if row["train_loss"] > limit), math.inf)

    def compare(self, folder):
        """Raises Different at the first difference."""
        folder = pathlib.Path(folder)
        summary = json.loads((folder / "summary.json").read_text())["variants"][0]
        self.clients(folder / "clients.csv")
        self.rounds(folder / "rounds.csv")
        self.same("summary.json", "", "stopped_by", self.found.stopped_by, summary["stopped_by"])
        for key, expected in totals.of(self.found).items():
            if self.is_told(key):
                value = summary
                for part in key.split("."):
                    value = value[part]
                self.number("summary.json", "", key, expected, value, self.slack * 1e-9)
        tensors = self.found.learner.task.tensors
        model = safetensors.read(folder / f"model-{summary['name']}.safetensors", tensors)
        if self.diverges == math.inf:
            for place, (expected, value) in enumerate(zip(self.found.learner.x, model)):
                self.number("model", place, "x", expected, value)

    def is_told(self, key):
        if key.startswith("metrics.") and self.diverges < math.inf:
            return False
        return not (key.startswith(("latency", "waste")) and any(trip.unheard for trip in self.found.trips))

    def clients(self, path):
        rows = {}
        with open(path) as file:
            for line, row in enumerate(csv.DictReader(file), start=2):
                rows.setdefault(int(row["client"]), []).append((line, row))
        for client in range(self.found.scenario.clients):
            trips = [trip for trip in self.found.trips if trip.client == client]
            for trip, (line, row) in zip(trips, rows.get(client, [])):
                self.trip(trip, line, row)
            self.same("clients.csv", "", f"rows of client {client}", len(trips), len(rows.get(client, [])))

    def trip(self, trip, line, row):
        where = ("clients.csv", line)
        times = {
            "dispatched_ns": trip.asked_at,
            "download_ns": trip.spent["download"],
            "compute_ns": trip.spent["compute"],
            "upload_ns": trip.spent["upload"],
            "arrived_ns": trip.arrived_at,
        }
        for column, expected in times.items():
            if abs(expected - int(row[column])) > self.slack:
                raise Different(told(*where, column, expected, row[column]))
        texts = {
            "round": trip.round,
            "class": self.found.world.devices[trip.client].name,
            "version": trip.version,
            "outcome": trip.outcome,
            "staleness": trip.staleness,
        }
        if not trip.unheard:
            texts["tau"] = trip.tau
            # Who sets out at the very end is in whatever phase.
            if trip.outcome != "unfinished" or trip.asked_at < trip.arrived_at:
                texts["phase"] = trip.phase
            self.number(*where, "accumulation", trip.accumulation, row["accumulation"])
        for column, expected in texts.items():
            self.same(*where, column, str(expected), row[column])
        self.number(*where, "weight", trip.weight, row["weight"])

    def rounds(self, path):
        with open(path) as file:
            rows = list(csv.DictReader(file))
        for line, (expected, row) in enumerate(zip(self.found.rows, rows), start=2):
            self.round(("rounds.csv", line), expected, row)
        self.same("rounds.csv", "", "number of rows", len(self.found.rows), len(rows))

    def round(self, where, expected, row):
        for column in ("round", "asked", "arrived"):
            self.same(*where, column, str(expected[column]), row[column])
        for column, key in (("virtual_seconds", "virtual_ns"), ("waited_seconds", "waited_ns")):
            self.number(*where, column, expected[key] / 1e9, row[column], self.slack * 1e-9)
        for column in ("tau_eff", "tau_min", "tau_mean", "tau_max", "chi2", "missing_mass"):
            self.number(*where, column, expected[column], row[column])
        measured = self.found.measured(expected["round"])
        for column in self.found.start:
            if measured is not None:
                self.same(*where, f"whether {column} was measured", measured, row[column] != "")
            if row[column] and expected["round"] < self.diverges:
                self.number(*where, column, expected[column], row[column])
        if row["kappa2"] and expected["round"] < self.diverges:
            self.theory(where, expected, row)

    def theory(self, where, expected, row):
        squared = expected["grad_norm"] ** 2
        kappa2, beta2 = apart(self.found.learner.task, expected["x"], expected["shares"])
        # Far from the optimum it is a small difference of large squares.
        self.number(*where, "kappa2", kappa2, row["kappa2"], self.part * squared)
        self.number(*where, "beta2", beta2, row["beta2"])
        self.number(*where, "grad_norm_squared", squared, row["grad_norm_squared"])
        if row["floor"]:
            self.number(*where, "floor", 2 * expected["chi2"] * float(row["kappa2"]), row["floor"])

    def same(self, file, row, column, expected, value):
        if expected != value:
            raise Different(told(file, row, column, expected, value))

    def number(self, file, row, column, expected, value, slack=0.0):
        if value is None or value == "":
            raise Different(told(file, row, column, expected, "nothing"))
        near = max(slack * 1.01, self.part)
        if not math.isclose(expected, float(value), rel_tol=self.part, abs_tol=near):
            raise Different(told(file, row, column, expected, value))


def told(file, row, column, expected, value):
    row = f" row {row}" if row != "" else ""
    return f"{file}{row}, {column}: expected {expected}, found {value}"
