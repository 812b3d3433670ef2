#!/usr/bin/env python3
"""Thousands of broken files of every format that is read: each is refused with a word, or read.

Usage: tests/torture/files.py PROGRAM [--count N] [--seed S] [--jobs J] [--only NUMBER] [--kind KIND]

20,000 unless given: traces, what traces are imported from, data sets, splits, measured values, models, and the
files of runs, finished and not. Faults are put behind valid headers, lengths, checksums and compression, so that
they get as far as what reads the content. Exit codes: 0 all passed, 1 something failed, 2 bad usage.
"""

import argparse
import json
import pathlib
import random
import sys

# The folder with the modules is source, and stays as it is.
sys.dont_write_bytecode = True

import seeds  # noqa: E402
from binary_mutations import broken_idx, broken_npz, broken_safetensors, gzipped, idx  # noqa: E402
from cases import Case, Torture  # noqa: E402
from pickle_mutations import broken_pickle  # noqa: E402
from run_files import broken_run  # noqa: E402
from run_folders import Runs  # noqa: E402
from table_mutations import broken_table  # noqa: E402
from toml_mutations import noise  # noqa: E402
from tree_mutations import broken_json  # noqa: E402

HEAD = b'name = "s"\n[stop]\nrounds = 3\n[client]\nlr = 0.05\nwork = { steps = 3 }\n'
SYNTHETIC = b'[task]\nkind = "synthetic"\nclients = 4\nfeatures = 2\nclasses = 3\nsize = 9\n'
QUADRATIC = b'[task]\nkind = "quadratic"\nclients = 4\ndim = 3\n'


def read_by(scenario, **files):
    """The commands that read the files of a scenario, and its files."""
    commands = [["check", "s.toml"], ["--quiet", "run", "s.toml", "--out", "out", "--threads", "2"]]
    return {"s.toml": HEAD + scenario, **{name.replace("__", "."): it for name, it in files.items()}}, commands


def trace(draws):
    content, name = broken_table(draws.choice(seeds.TRACES), draws), "t.csv"
    if draws.random() < 0.3:
        content, name = gzipped(content, draws), "t.csv.gz"
    how = draws.random()
    if how < 0.3:
        return {name: content}, [["trace", "inspect", name], ["trace", "fit", name]]
    more = draws.choice(["", ", repeat = true", ', repeat = "7s"', ', shift = "random", repeat = true', ', assign = "random"'])
    if how < 0.8:
        keys = f'batch = 5\n[[fleet.class]]\nname = "a"\ntrace = {{ file = "{name}"{more} }}\n'
    else:
        keys = f'[[fleet.class]]\nname = "a"\nstep_time = "1s"\navailability = {{ trace = "{name}"{more} }}\n'
    stop = b'time = "1h"\n'
    files, commands = read_by(keys.encode() + SYNTHETIC)
    files["s.toml"] = files["s.toml"].replace(b"rounds = 3\n", b"rounds = 3\n" + stop)
    return {**files, name: content}, commands


def imported(draws):
    form = draws.choice([*seeds.IMPORTS, "fedscale-capacity", "fedscale-behavior", "fedscale-behavior"])
    more = ["--skip-bad"] if draws.random() < 0.5 else []
    if form.startswith("fedscale"):
        content = broken_pickle(seeds.CAPACITIES if form.endswith("capacity") else seeds.BEHAVIOURS, draws)
    else:
        content, own = seeds.IMPORTS[form]
        more = more + own
        is_json = content.startswith(b"{")
        separator = b" " if form == "bandwidth" else b","
        content = broken_json(content, draws) if is_json else broken_table(content, draws, separator)
    if draws.random() < 0.15:
        content = gzipped(content, draws)
    importing = ["trace", "import", "--format", form, *more, "--out", "out.csv", "f"]
    return {"f": content}, [importing, ["trace", "inspect", "out.csv"]]


def table(draws):
    kind = draws.choice(["npz", "npz", "csv", "svm"])
    named = kind == "csv" and draws.random() < 0.5
    content = {
        "npz": lambda: broken_npz(seeds.arrays(), draws),
        "csv": lambda: broken_table(seeds.POINTS if named else seeds.NUMBERS, draws),
        "svm": lambda: broken_table(seeds.SVM, draws, b" "),
    }[kind]()
    name = f"d.{kind}"
    if draws.random() < 0.1:
        content, name = gzipped(content, draws), name + ".gz"
    keys = 'client = "user"\n' if named else "clients = 2\n"
    keys += draws.choice(["", "standardize = true\n"])
    keys += draws.choice(["", "[task.partition]\ntest_fraction = 0.5\n", "[task.partition]\nscheme = { shards = 1 }\n"])
    files, commands = read_by(f'[task]\nkind = "table"\nfile = "{name}"\n{keys}'.encode())
    return {**files, name: content}, [["data", "inspect", "s.toml"], *commands]


def images(draws):
    if draws.random() < 0.3:
        names = [f"data/cifar10/data_batch_{number}.bin" for number in range(1, 6)]
        files = {name: seeds.cifar(2) for name in [*names, "data/cifar10/test_batch.bin"]}
        name = draws.choice(sorted(files))
        content = files[name]
        other = [content[:-1], content[: 3073 + draws.randrange(3073)], b"", content + b"\0", b"\xff" + content[1:]]
        files[name] = draws.choice([*other, noise(content, draws)])
        dataset = "cifar10"
    else:
        files, parts = {}, {}
        for head in ("train", "t10k"):
            parts[f"data/mnist/{head}-images-idx3-ubyte"], parts[f"data/mnist/{head}-labels-idx1-ubyte"] = seeds.digits(12)
        broken = draws.choice(sorted(parts))
        for name, (sizes, data) in parts.items():
            good = idx(0x0800 | len(sizes), sizes, data)
            files[name] = broken_idx(sizes, data, draws) if name == broken else good
        if draws.random() < 0.3:
            files[broken + ".gz"] = gzipped(files.pop(broken), draws)
        dataset = "mnist"
    return files, [["data", "inspect", "--dataset", dataset, "--set", "task.clients=3"]]


def split(draws):
    content = broken_json(json.dumps(seeds.SPLIT).encode(), draws)
    keys = b'[task]\nkind = "table"\nfile = "d.csv"\nclients = 2\n[task.partition]\nscheme = { file = "s.json" }\n'
    files, commands = read_by(keys, d__csv=seeds.NUMBERS, s__json=content)
    return files, commands


def empirical(draws):
    content = broken_table(seeds.EMPIRICAL, draws)
    unit = draws.choice(["ms", "ms", "s", "ns", "h"])
    missing = draws.choice(["", ", missing = 0", ", missing = 0"])
    keys = f'[[fleet.class]]\nname = "a"\nstep_time = {{ empirical = "e.csv", column = "step", unit = "{unit}"{missing} }}\n'
    files, commands = read_by(keys.encode() + SYNTHETIC, e__csv=content)
    return files, commands


def model(draws):
    shapes = {"weight": ("F32", [3, 2]), "bias": ("F32", [3])}
    task = SYNTHETIC
    if draws.random() < 0.5:
        shapes, task = {"x": ("F64", [3])}, QUADRATIC
    content = broken_safetensors(seeds.tensors(shapes), draws)
    return read_by(task + b'init = { file = "m.safetensors" }\n', m__safetensors=content)


KINDS = {"trace": trace, "import": imported, "table": table, "images": images, "split": split, "empirical": empirical}
KINDS["model"] = model
WEIGHTS = {"trace": 4, "import": 5, "table": 4, "images": 1, "split": 1, "empirical": 1, "model": 2}


def main():
    options = arguments()
    runs = Runs(options.program)
    kinds = {**KINDS, "run's files": lambda draws: broken_run(runs, draws)}
    weights = [WEIGHTS.get(kind, 7) for kind in kinds]

    def make(number):
        draws = random.Random(f"files {options.seed} {number}")
        kind = options.kind or draws.choices(list(kinds), weights)[0]
        files, commands, *finer = kinds[kind](draws)
        finer = finer[0] if finer else "" if kind != "import" else commands[0][3]
        return Case(f"{kind} {finer}".strip(), files, {}, commands)

    numbers = range(options.count) if options.only is None else [options.only]
    return 1 if Torture(options.program, make, options.jobs).run(numbers) else 0


def arguments():
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shape, usage=argparse.SUPPRESS)
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--only", type=int, metavar="NUMBER")
    parser.add_argument("--kind")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
