"""Compares what a run left (docs/outputs.md) with what was predicted, cell by cell."""

import csv
import json
import math
import pathlib

import totals
from predict import safetensors

RELATIVE = 1e-9


class Different(Exception):
    """The first difference."""


def compare(folder, found, slack):
    """Raises Different at the first one. Times may be so many nanoseconds apart."""
    folder = pathlib.Path(folder)
    summary = json.loads((folder / "summary.json").read_text())["variants"][0]
    clients(folder / "clients.csv", found, slack)
    rounds(folder / "rounds.csv", found, slack)
    same("summary.json", "", "stopped_by", found.stopped_by, summary["stopped_by"])
    for key, expected in totals.of(found).items():
        # The program does not measure the model where it is deserted: `metrics` are older ones then.
        if found.stopped_by == "deserted" and key.startswith("metrics."):
            continue
        if key.startswith(("latency", "waste")) and any(trip.unheard for trip in found.trips):
            continue
        value = summary
        for part in key.split("."):
            value = value[part]
        number("summary.json", "", key, expected, value, slack * 1e-9)
    variant = summary["name"]
    model = safetensors.read(folder / f"model-{variant}.safetensors")
    for place, (expected, value) in enumerate(zip(found.learner.x, model)):
        number("model", place, "x", expected, value)


def clients(path, found, slack):
    rows = {}
    with open(path) as file:
        for line, row in enumerate(csv.DictReader(file), start=2):
            rows.setdefault(int(row["client"]), []).append((line, row))
    for client in range(found.scenario.clients):
        trips = [trip for trip in found.trips if trip.client == client]
        for trip, (line, row) in zip(trips, rows.get(client, [])):
            trip_cells(trip, line, row, found, slack)
        same("clients.csv", "", f"rows of client {client}", len(trips), len(rows.get(client, [])))


def trip_cells(trip, line, row, found, slack):
    where = ("clients.csv", line)
    texts = {
        "round": trip.round,
        "class": found.world.devices[trip.client].name,
        "version": trip.version,
        "outcome": trip.outcome,
        "staleness": trip.staleness,
    }
    if not trip.unheard:
        texts.update(tau=trip.tau, phase=trip.phase)
    times = {
        "dispatched_ns": trip.asked_at,
        "download_ns": trip.spent["download"],
        "compute_ns": trip.spent["compute"],
        "upload_ns": trip.spent["upload"],
        "arrived_ns": trip.arrived_at,
    }
    for column, expected in times.items():
        if abs(expected - int(row[column])) > slack:
            raise Different(told(*where, column, expected, row[column]))
    for column, expected in texts.items():
        same(*where, column, str(expected), row[column])
    if not trip.unheard:
        number(*where, "accumulation", trip.accumulation, row["accumulation"])
    number(*where, "weight", trip.weight, row["weight"])


def rounds(path, found, slack):
    with open(path) as file:
        rows = list(csv.DictReader(file))
    for line, (expected, row) in enumerate(zip(found.rows, rows), start=2):
        where = ("rounds.csv", line)
        for column in ("round", "asked", "arrived"):
            same(*where, column, str(expected[column]), row[column])
        for column, key in (("virtual_seconds", "virtual_ns"), ("waited_seconds", "waited_ns")):
            number(*where, column, expected[key] / 1e9, row[column], slack * 1e-9)
        for column in ("tau_eff", "tau_min", "tau_mean", "tau_max", "chi2", "missing_mass"):
            number(*where, column, expected[column], row[column])
        measured = found.measured(expected["round"])
        for column in ("train_loss", "grad_norm", "distance"):
            if measured is not None:
                same(*where, f"whether {column} was measured", measured, row[column] != "")
            if row[column]:
                number(*where, column, expected[column], row[column])
        if row["kappa2"]:
            theory(where, expected, row, found)
    same("rounds.csv", "", "number of rows", len(found.rows), len(rows))


def theory(where, expected, row, found):
    kappa2, beta2 = found.learner.task.apart(expected["x"], expected["shares"])
    # Far from the optimum it is a small difference of large squares.
    number(*where, "kappa2", kappa2, row["kappa2"], RELATIVE * expected["grad_norm"] ** 2)
    number(*where, "beta2", beta2, row["beta2"])
    number(*where, "grad_norm_squared", expected["grad_norm"] ** 2, row["grad_norm_squared"])
    if row["floor"]:
        floor = 2 * expected["chi2"] * float(row["kappa2"])
        number(*where, "floor", floor, row["floor"])


def same(file, row, column, expected, value):
    if expected != value:
        raise Different(told(file, row, column, expected, value))


def number(file, row, column, expected, value, slack=0.0):
    """Numbers of about 1 or more to nine digits, smaller ones to nine places: sums round differently."""
    if value is None or value == "":
        raise Different(told(file, row, column, expected, "nothing"))
    if not math.isclose(expected, float(value), rel_tol=RELATIVE, abs_tol=max(slack * 1.01, RELATIVE)):
        raise Different(told(file, row, column, expected, value))


def told(file, row, column, expected, value):
    row = f" row {row}" if row != "" else ""
    return f"{file}{row}, {column}: expected {expected}, found {value}"

