"""Jobs that must not begin: exit code 2, and a message that says which rank and what differs."""

import gzip
import struct

from jobs import finish, mpirun

SCENARIO = """
name = "s"
stop.rounds = 1
task = { kind = "quadratic", clients = 2 }
client = { lr = 0.1, work = { steps = 1 } }
server.close = "all"
fleet.class = [{ name = "a", step_time = "1s" }]
"""

IMAGES = """
name = "s"
stop.rounds = 1
task = { kind = "images", dataset = "fashion-mnist", model = "softmax", clients = 2 }
client = { lr = 0.1, work = { steps = 1 } }
server.close = "all"
fleet.class = [{ name = "a", step_time = "1s" }]
"""


def all_of_them(program, folder):
    """Names and what is wrong with each, if anything is."""
    scenario, images = folder / "refused.toml", folder / "images.toml"
    scenario.write_text(SCENARIO)
    images.write_text(IMAGES)
    for place, first in (("here", 0), ("there", 5)):
        write_images(folder / place, first)
    run = [program, "--quiet", "run", scenario, "--out", folder / "refused"]
    learn = [program, "--quiet", "run", images, "--out", folder / "refused", "--force"]

    def given(place):
        return ["env", f"GRUPPETTO_DATA={folder / place}", *learn]

    cases = {
        "another version": (run, ["env", "GRUPPETTO_PRETENDED_VERSION=0.0.9", *run], ["rank 1", "0.0.9"]),
        "another seed": (run, [*run, "--seed", "7"], ["rank 1", "another scenario", "--seed"]),
        "no scenario": (run, [*run[:3], folder / "none.toml", *run[4:]], ["rank 1", "none.toml"]),
        "other data": (given("here"), given("there"), ["rank 1", "other data"]),
        "the wall clock": ([*run, "--clock", "wall"], [*run, "--clock", "wall"], ["--clock wall"]),
    }
    for name, (first, second, wanted) in cases.items():
        code, said = finish([*mpirun(), "-n", "1", *first, ":", "-n", "1", *second])
        missing = [text for text in wanted if text not in said]
        yield name, f"exit code {code}\n{said}" if code != 2 or missing else None
    code, said = finish([*mpirun(), "-n", "1", *given("here"), ":", "-n", "1", *given("here")])
    yield "the same data", f"exit code {code}\n{said}" if code else None
    code, said = finish([*mpirun(), "-n", "1", *run, "--force"])
    yield "a single rank", f"exit code {code}\n{said}" if code else None


def write_images(folder, first):
    """Files as Fashion-MNIST has them, all black, with labels that begin at `first`."""
    digits = bytes((first + digit) % 10 for digit in range(10))
    (folder / "fashion-mnist").mkdir(parents=True)
    for part, count in (("train", 60_000), ("t10k", 10_000)):
        pixels = struct.pack(">4i", 2051, count, 28, 28) + bytes(28 * 28 * count)
        labels = struct.pack(">2i", 2049, count) + digits * (count // 10)
        for kind, content in (("images-idx3", pixels), ("labels-idx1", labels)):
            with gzip.open(folder / "fashion-mnist" / f"{part}-{kind}-ubyte.gz", "wb", compresslevel=1) as file:
                file.write(content)

