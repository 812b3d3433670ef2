#!/usr/bin/env python3
"""Good files of every format that is read, small ones: what mutations begin with.

Usage: tests/torture/seeds.py PROGRAM FOLDER

writes them as the corpora of the fuzz targets in `fuzz/`, a folder for each. Runs are made with PROGRAM.
"""

import json
import pathlib
import pickle
import random
import struct
import sys
import zlib

# The folder with the modules is source, and stays as it is.
sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))

import generate  # noqa: E402
from binary_mutations import array, idx  # noqa: E402
from cases import ROOT  # noqa: E402

# What the two pickles of FedScale hold.
CAPACITIES = {1: {"computation": 153, "communication": 2209.5}, 2: {"computation": 0.5, "communication": 18000}}
BEHAVIOURS = {
    "a": {"duration": 30, "active": [10, 50.5], "inactive": [20, 60], "finish_time": 100, "model": "Pixel é"},
    5: {"active": [0, 7, 90], "inactive": [7, 9, 120], "finish_time": 100},
    6: {"active": [], "inactive": [], "finish_time": 1.5},
}
MESSAGES = (
    "2020-01-28 21:00:00\tbattery_charged_on\n2020-01-28 21:30:00\twifi\n2020-01-28 22:00:05\tscreen_lock\n"
    "2020-01-29 06:30:00\t4G\n2020-01-29 07:00:00\tbattery_charged_off\n"
)
READY = {"isSuccess": True, "trace_start": 100.0, "trace_end": 900.0, "ready_time": [[150.0, 160.0], [170, 180]]}
# By format of `trace import`: content, and further arguments.
IMPORTS = {
    "flash": (json.dumps({"7": {"guid": "g", "messages": MESSAGES}, "8": {"messages": ""}}).encode(), []),
    "flash-ready": (json.dumps({"7": READY, "9": {"isSuccess": False}}).encode(), []),
    "latency-json": (b'{"Pixel 4": {"resnet": 12.5}, "A": {"resnet": null}, "B": {"resnet": 3}, "C": {}}', []),
    "ai-benchmark": (b'model,latency\nPixel 4,12.5\nNone,0\n"A, B",2.5\nMi 9,3\n', []),
    "bandwidth": (b"100 4.5\n101.5 0\n\n# tunnel\n102 8\n103.25 1e2\n", []),
    "csv": (
        b"id,t,ms,k,on\nx,0,5,800,1\nx,1500,,1600,\nx,3000,,,0\nx,4000,,,\ny,0,7,,1\n",
        ["--map", "device=id,time=t[ms],step_time=2*ms[us],up=k[kbps],available=on"],
    ),
}
TRACES = [
    b"device,time [s],step_time [ms],up [Mbps],down [Mbps],available\na,0,10,5,20,1\na,1.5,12,,10,\na,3,,0,,0\n"
    b"a,9,,,,1\na,20,,,,\nb,0,7,1,1,0\nb,2,,,,1\nb,30,,,,\n",
    b"device,time [h],sample_time [ms],available\nx,0,2,1\nx,1,,0\nx,24,,\ny,0,3,1\ny,24,,\n",
    b"# made up\ndevice,time [ms],step_time [us]\nq,0,500\nq,7,600\nq,50,\n",
]
SPLIT = {"clients": 2, "sizes": [3, 2], "indices": [[0, 2, 4], [1, 3]]}
EMPIRICAL = b"phone,step,link\na,12,3Mbps\nb,20.5,1Mbps\nc,7,\nd,0,2Mbps\n"
SVM = b"+1 1:0.5 3:2 # x\n-1 2:1e-3\n+1 4:7\n-1 1:2 2:2 3:2\n+1\n-1 1:1\n"
POINTS = b"y,a,b,user\n0,1.5,2,u\n1,-3,4e2,v\n0,5,6,u\n1,7,8,v\n0,1,1,u\n1,2,2,v\n"
NUMBERS = b"y,a,b\n0,1.5,2\n1,-3,4e2\n0,5,6\n1,7,8\n0,1,1\n1,2,2\n"


def arrays():
    """Of an npz: name → (dtype, shape, data)."""
    x = b"".join(struct.pack("<f", number / 3) for number in range(12))
    return {"x": ("<f4", (6, 2), x), "y": ("|u1", (6,), bytes([0, 1, 0, 1, 2, 2]))}


def digits(count):
    """Images and labels as MNIST has them."""
    draws = random.Random(count)
    pixels = bytes(draws.randrange(256) for _ in range(784 * count))
    return ((count, 28, 28), pixels), ((count,), bytes(number % 10 for number in range(count)))


def cifar(count):
    return b"".join(bytes([number % 10]) + bytes([number * 7 % 256]) * 3072 for number in range(count))


def tensors(shapes, meta=None):
    """A safetensors file of numbers that are all 0.5."""
    header, data = {"__metadata__": meta} if meta else {}, b""
    for name, (dtype, shape) in shapes.items():
        count = 1
        for size in shape:
            count *= size
        numbers = (struct.pack("<f", 0.5) if dtype == "F32" else struct.pack("<d", 0.5)) * count
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def corpora(program):
    """Inputs by fuzz target. A first byte chooses a format, or says that lengths and checksums are added."""
    import run_folders

    runs = run_folders.Runs(program)
    done = runs.finished[0]
    open_run = next(run for run in runs.unfinished if "cells/finished.jsonl" in run)
    pickles = [pickle.dumps(it, protocol) for it in (CAPACITIES, BEHAVIOURS) for protocol in range(6)]
    npy = {name: array(*parts) for name, parts in arrays().items()}
    between = b"\xfe" * 4
    shipped = sorted((ROOT / "scenarios").glob("*.toml"))
    imports = [bytes([2 * number]) + content for number, (content, _) in enumerate(IMPORTS.values())]
    model = tensors({"weight": ("F32", [2, 3]), "bias": ("F64", [3])})
    checkpoint = next(content for name, content in open_run.items() if name.endswith("checkpoint.safetensors"))
    header, numbers = split_header(checkpoint)
    log = next(content for name, content in open_run.items() if name.endswith("/log"))
    histogram = done["latency.hlog"]
    return {
        "pickle": [bytes([number % 2]) + content for content in pickles for number in range(2)],
        "trace": [*TRACES, (ROOT / "traces/six-phones.csv").read_bytes()],
        "import": imports,
        "npz": [b"\1" + npy["x"] + between + npy["y"]],
        "idx": [idx(0x0801, *digits(6)[1])],
        "csv": [NUMBERS, POINTS, (ROOT / "tests/data/points.csv").read_bytes()],
        "libsvm": [SVM],
        "cifar": [cifar(3)],
        "safetensors": [b"\0" + model, b"\1" + between.join(split_header(model))],
        "hlog": [b"\0" + histogram, b"\1" + unpacked(histogram)],
        "scenario": [it.encode() for it in generate.everything(1, 60).values()] + [it.read_bytes() for it in shipped],
        "tables": [done["rounds.csv"], done["clients.csv"]],
        "summary": [done["summary.json"]],
        "checkpoint": [between.join([open_run["cells/finished.jsonl"], log, header, numbers])],
    }


def split_header(content):
    length = struct.unpack("<Q", content[:8])[0]
    return content[8 : 8 + length], content[8 + length :]


def unpacked(log):
    """The first histogram of a log, without its compression."""
    import base64

    line = next(line for line in log.split(b"\n") if line.startswith(b"Tag="))
    return zlib.decompress(base64.b64decode(line.split(b",")[-1])[8:])


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    for target, contents in corpora(sys.argv[1]).items():
        folder = pathlib.Path(sys.argv[2]) / target
        folder.mkdir(parents=True, exist_ok=True)
        for number, content in enumerate(contents):
            (folder / f"seed-{number}").write_bytes(content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
