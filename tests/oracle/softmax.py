"""Softmax regression replayed in plain Python: full batches, every solver, the metrics of training and testing."""

import io
import json
import pathlib
import struct
import tempfile
import zipfile

import case
import compare
from generate.draws import Draws, table
from predict.classes import Softmax
from predict.run import predict

CLIENTS, FEATURES, CLASSES = 4, 3, 3
RUNS = {
    "plain": ({}, {}),
    "momentum and prox": ({"momentum": 0.9, "prox": 0.5}, {"weighting": '"fedavg"'}),
    "decay": ({"lr_decay": 0.9, "weight_decay": 0.05}, {"optimizer": '{ kind = "adam" }'}),
    "scaffold": ({"variance_reduction": '"scaffold"'}, {"close": "{ buffer = 2 }"}),
    "fednova's corrections": ({"variance_reduction": '"fednova"', "momentum": 0.5}, {}),
    "the largest numbers": ({"compression": "{ top_k = 0.4, error_feedback = true }"}, {"weighting": '"uniform"'}),
}


def data(draws):
    """Samples about one point for every class, some to train with and some to test with. Features are whole
    parts of 64: single precision, in which the program keeps them, holds those exactly."""
    coordinate = lambda: draws.whole(-64, 64) / 64
    middles = [[coordinate() for _ in range(FEATURES)] for _ in range(CLASSES)]
    samples = []
    for place in range(60):
        label = place % CLASSES
        samples.append(([middle + coordinate() for middle in middles[label]], label))
    return samples[:45], samples[45:]


def scenario(client, server):
    each = [3, 8, 5, 12]
    return "".join(
        [
            table(name='"softmax"'),
            "[stop]\nrounds = 8\n[task]\n",
            table(kind='"table"', file='"samples.npz"', partition='{ scheme = { file = "split.json" } }', clients=CLIENTS),
            "[client]\n" + table(batch='"full"', lr=0.1, work=f"{{ steps = {each} }}", **client),
            "[server]\n" + table(**{"close": '"all"', "evaluate_every": 1, "scheme": '"round-robin"', **server}),
            "[[fleet.class]]\n" + table(name='"device"', step_time='"10ms"', uplink='"20kbps"'),
        ]
    )


def check(program):
    """How many runs were replayed, and what was wrong."""
    wrong = []
    for number, (name, (client, server)) in enumerate(RUNS.items()):
        draws = Draws(number)
        train, test = data(draws)
        # Of different sizes, and each sample somewhere.
        split = [list(range(first, last)) for first, last in ((0, 6), (6, 16), (16, 28), (28, 45))]
        text = scenario(client, server)
        with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
            folder = pathlib.Path(folder)
            (folder / "samples.npz").write_bytes(npz(train, test))
            (folder / "split.json").write_text(json.dumps({"indices": split}))
            (folder / "run.toml").write_text(text)
            try:
                case.run(program, folder / "run.toml", folder / "run")
                task = Softmax(train, test, split, CLASSES)
                found = predict(text, folder, folder / "run" / "clients.csv", task=task)
                compare.Comparison(found, part=1e-6).compare(folder / "run")
            except (case.Wrong, compare.Different) as error:
                wrong.append(f"softmax, {name}: {error}")
    return len(RUNS), wrong


def npz(train, test):
    """Both sets as NumPy would write them."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        for name, samples in (("train", train), ("test", test)):
            numbers = [value for features, _ in samples for value in features]
            file.writestr(f"x_{name}.npy", npy("<f8", (len(samples), FEATURES), "d", numbers))
            labels = [label for _, label in samples]
            file.writestr(f"y_{name}.npy", npy("<i8", (len(samples),), "q", labels))
    return target.getvalue()


def npy(kind, shape, code, numbers):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        f"<{len(numbers)}{code}", *numbers
    )
