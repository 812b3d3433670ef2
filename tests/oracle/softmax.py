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

FEATURES, CLASSES = 3, 3
# The samples of every client: of different sizes, and each sample somewhere.
SPLIT = [list(range(first, last)) for first, last in ((0, 6), (6, 16), (16, 28), (28, 45))]
# The program's kernels compute in single precision.
PART = 1e-6
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


def scenario(client, server, task=None):
    partition = '{ scheme = { file = "split.json" } }'
    keys = {"kind": '"table"', "file": '"samples.npz"', "partition": partition, "clients": len(SPLIT)}
    return "".join(
        [
            'name = "replay"\n[stop]\nrounds = 8\n',
            "[task]\n" + table(**keys, **(task or {})),
            "[client]\n" + table(batch='"full"', lr=0.1, work="{ steps = [3, 8, 5, 12] }", **client),
            "[server]\n" + table(**{"close": '"all"', "evaluate_every": 1, "scheme": '"round-robin"', **server}),
            "[[fleet.class]]\n" + table(name='"device"', step_time='"10ms"', uplink='"20kbps"'),
        ]
    )


def replay(program, text, train, test, task, files=None):
    """None if a run on samples comes out as the task predicts, else what is wrong."""
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        folder = pathlib.Path(folder)
        split = json.dumps({"indices": SPLIT}).encode()
        for name, content in {"samples.npz": npz(train, test), "split.json": split, **(files or {})}.items():
            (folder / name).write_bytes(content)
        (folder / "run.toml").write_text(text)
        try:
            case.run(program, folder / "run.toml", folder / "run")
            found = predict(text, folder, folder / "run" / "clients.csv", task=task)
            compare.Comparison(found, part=PART).compare(folder / "run")
        except (case.Wrong, compare.Different) as wrong:
            return str(wrong)
    return None


def check(program):
    """How many runs were replayed, and what was wrong."""
    wrong = []
    for number, (name, (client, server)) in enumerate(RUNS.items()):
        train, test = data(Draws(number))
        task = Softmax(train, test, SPLIT, CLASSES)
        if error := replay(program, scenario(client, server), train, test, task):
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
