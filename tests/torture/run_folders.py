"""Runs whose files are read back: finished ones, and ones that ended in their middle, with checkpoints."""

import os
import pathlib
import subprocess
import tempfile

# Little to compute, and every kind of file: two cells a variant, vectors of single clients, a log.
SCENARIO = b"""name = "small"
seed = 3
repeats = 2
[stop]
rounds = 6
[task]
kind = "quadratic"
clients = 5
dim = 3
[client]
lr = 0.05
work = { steps = 4 }
[server]
close = { deadline = "1s" }
late = "stale"
[[fleet.class]]
name = "a"
step_time = { lognormal = { median = "200ms", sigma = 0.5 } }
[[variant]]
name = "x"
set = { client.variance_reduction = "scaffold", server.optimizer = { kind = "adam" } }
[[variant]]
name = "y"
set = { client.compression = { top_k = 0.4, error_feedback = true } }
[record]
timeline = "all"
"""
SOFTMAX = b"""name = "softmax"
seed = 4
[stop]
rounds = 5
[task]
kind = "synthetic"
clients = 6
features = 4
classes = 3
size = 20
[client]
batch = 5
lr = 0.05
work = { epochs = 1 }
[server]
close = { buffer = 3 }
scheme = "uniform"
[[fleet.class]]
name = "a"
step_time = { lognormal = { median = "200ms", sigma = 0.5 } }
uplink = "5kbps"
"""
OORT = b"""name = "oort"
seed = 5
[stop]
rounds = 8
[task]
kind = "quadratic"
clients = 8
dim = 2
[client]
lr = 0.05
work = { steps = 3 }
[server]
sample = { clients = 3 }
scheme = "oort"
evaluate_every = 2
"""


class Runs:
    """Folders as contents by name. All of `finished` are over; of `unfinished` some cells are not."""

    def __init__(self, program):
        self.scenarios = [SCENARIO, SOFTMAX, OORT]
        self.finished, self.unfinished = [], []
        # Which scenario an unfinished run is of.
        self.of = []
        for number, scenario in enumerate(self.scenarios):
            self.finished.append(self.run(program, scenario))
            # In its first cell, and in a later one.
            for events in [(22, 51, 75), (14,), (17,)][number]:
                fault = {"GRUPPETTO_FAULT_AFTER": str(events), "GRUPPETTO_CHECKPOINT_EVENTS": "4"}
                left = self.run(program, scenario, fault)
                if any(name.endswith("checkpoint.safetensors") for name in left):
                    self.unfinished.append(left)
                    self.of.append(number)
        assert len(self.unfinished) >= 4, "runs that ended in their middle left no checkpoints"

    def run(self, program, scenario, environment={}):
        with tempfile.TemporaryDirectory(prefix="torture-run-") as folder:
            folder = pathlib.Path(folder)
            (folder / "s.toml").write_bytes(scenario)
            command = [str(pathlib.Path(program).resolve()), "--quiet", "run", "s.toml", "--out", "run", "--threads", "1"]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            subprocess.run(command, cwd=folder, env={**os.environ, **environment}, **quiet)
            paths = [path for path in (folder / "run").rglob("*") if path.is_file()]
            names = {str(path.relative_to(folder / "run")): path.read_bytes() for path in paths}
        # A lock says which process holds it, and the page is never read.
        return {name: content for name, content in sorted(names.items()) if name not in ("lock", "report.html")}
