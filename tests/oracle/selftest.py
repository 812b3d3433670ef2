"""Shows that the oracle can fail: numbers of a run are altered one by one, and each has to be noticed."""

import csv
import json
import struct

import case
import generate
from generate import coverage

# Of rounds and of clients one by one; none that ends at an instant at which somebody is back.
CASES = [1, 2, 3, 4, 5, 6, 8, 9]


def cells(file, column, change):
    """Alters the last cell of a column that is not empty and, where it can be, not 0."""

    def spoil(out):
        with open(out / file) as source:
            rows = list(csv.DictReader(source))
        full = [row for row in rows if row[column] not in ("", "0", "0.0", "0.000000000")]
        row = (full or rows)[-1]
        row[column] = change(row[column])
        with open(out / file, "w") as target:
            writer = csv.DictWriter(target, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)

    return spoil


def later(text):
    """Three nanoseconds, which are too many on shared links, too."""
    return str(int(text) + 3)


def more(text):
    return repr(float(text) * (1 + 1e-6) + 1e-6)


def total(key):
    def spoil(out):
        path = out / "summary.json"
        summary = json.loads(path.read_text())
        summary["variants"][0][key] = summary["variants"][0][key] * (1 + 1e-6) + 1e-6
        path.write_text(json.dumps(summary))

    return spoil


def model(out):
    """Alters the last number of the model."""
    (path,) = out.glob("model-*.safetensors")
    data = path.read_bytes()
    path.write_bytes(data[:-8] + struct.pack("<d", struct.unpack("<d", data[-8:])[0] + 1e-6))


SPOILT = {
    "an arrival three nanoseconds later": cells("clients.csv", "arrived_ns", later),
    "computing three nanoseconds longer": cells("clients.csv", "compute_ns", later),
    "a weight by a millionth": cells("clients.csv", "weight", more),
    "a client's steps": cells("clients.csv", "tau", later),
    "an outcome": cells("clients.csv", "outcome", lambda _: "dropped"),
    "the time of a round": cells("rounds.csv", "virtual_seconds", more),
    "a loss by a millionth": cells("rounds.csv", "train_loss", more),
    "chi2": cells("rounds.csv", "chi2", more),
    "effective steps": cells("rounds.csv", "tau_eff", more),
    "waste": total("waste"),
    "a parameter of the model": model,
}


def uncovered():
    """Forms of the language that no case of `make check` has."""
    texts = [generate.oracle(number).text for number in range(1, 101)]
    return coverage.missing(texts, coverage.PREDICTED)


def unnoticed(program):
    """What was altered and not noticed. That the cases are right as they are the check itself shows."""
    missed = []
    for number in CASES:
        unseen = [name for name, spoil in SPOILT.items() if not notices(program, number, spoil)]
        missed += [f"case {number}: {name}" for name in unseen]
    return missed


def notices(program, number, spoil):
    return case.check(program, number, spoil=spoil) is not None
