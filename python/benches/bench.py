"""The speed figures of the Python package, as ratios within one run.

    make wheel && python python/benches/bench.py [PATH OF THE COMMAND]

With PyTorch installed, of models that it trains, too.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import gruppetto as gp
import numpy as np

ROOT = Path(__file__).parents[2]


def seconds(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def side_by_side(one, other, times=7):
    """Median ratio of the two, taken in turn."""
    pairs = [(seconds(one), seconds(other)) for _ in range(times)]
    return float(np.median([a / b for a, b in pairs])), *(float(np.median(column)) for column in zip(*pairs))


def line(what, figure, goal):
    print(f"{what:<62} {figure:>9}   {goal}", flush=True)


def import_time():
    code = "import sys, time; t = time.perf_counter(); import gruppetto; print(time.perf_counter() - t); " \
           "assert not {'torch', 'pandas', 'pyarrow', 'polars'} & set(sys.modules)"
    numpy = "import time; t = time.perf_counter(); import numpy; print(time.perf_counter() - t)"
    took = lambda code: min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout) for _ in range(5))
    line("import gruppetto, of which NumPy", f"{1e3 * took(code):.0f} ms", f"< 150 ms ({1e3 * took(numpy):.0f} ms)")


def demo(command):
    scenario = ROOT / "scenarios/demo.toml"
    with tempfile.TemporaryDirectory() as folder:
        def own():
            gp.run(scenario, out=Path(folder) / "own", force=True, progress=False)

        def theirs():
            subprocess.run([command, "run", scenario, "-q", "--out", Path(folder) / "theirs", "--force"], check=True, capture_output=True)

        ratio, *_ = side_by_side(own, theirs)
        digests = [[cell["digest"] for cell in gp.load(Path(folder) / name).summary["variants"]] for name in ("own", "theirs")]
        assert digests[0] == digests[1]
    line("gp.run of the demo : the command", f"{ratio:.3f}", "≤ 1.02")


@gp.plugin("bench-first")
class First(gp.Selector):
    def select(self, view, rng):
        return CHOSEN


@gp.plugin("bench-uniform")
class Uniform(gp.Selector):
    def select(self, view, rng):
        return rng.choice(np.flatnonzero(view.available), view.wanted, replace=False)


CHOSEN = np.arange(10)


def selector():
    many = {
        "name": "selector", "stop": {"rounds": 20000}, "task": {"kind": "quadratic", "clients": 1000, "dim": 1},
        "client": {"work": {"steps": 1}}, "server": {"close": "all", "sample": {"clients": 10}, "evaluate_every": 20000},
        "record": {"clients": "off", "timeline": "off"},
        "fleet": {"class": [{"name": "a", "step_time": "10ms"}]},
    }
    with_hook = {"server.scheme": {"plugin": "bench-first"}}
    costs = []
    for _ in range(5):
        ours = seconds(lambda: gp.run(many, set=with_hook, timing_only=True, progress=False))
        built_in = seconds(lambda: gp.run(many, set={"server.scheme": "round-robin"}, timing_only=True, progress=False))
        costs.append((ours - built_in) / 20000)
    line("a selector over 1,000 clients, per call", f"{1e6 * np.median(costs):.1f} µs", "< 20 µs")
    softmax = {
        "name": "softmax", "stop": {"rounds": 300}, "task": {"clients": 1000},
        "client": {"work": {"steps": 20}, "batch": 20}, "server": {"close": "all", "sample": {"clients": 20}, "evaluate_every": 300},
        "fleet": {"class": [{"name": "a", "step_time": "10ms"}]},
    }
    ratio, *_ = side_by_side(
        lambda: gp.run(softmax, set={"server.scheme": {"plugin": "bench-uniform"}}, progress=False, threads=1),
        lambda: gp.run(softmax, progress=False, threads=1),
    )
    line("softmax with a selector in Python : with the built-in one", f"{ratio:.3f}", "≤ 1.10")


@gp.plugin("bench-buffer")
class Buffer(gp.Closing):
    one_by_one = True

    def __init__(self):
        self.count = 0

    def opened(self, round):
        self.count = 0

    def arrived(self, update):
        self.count += 1
        return CLOSE if self.count == 100 else None


CLOSE = gp.Verdict(close=True)


def closing():
    rounds = 3000
    free = {
        "name": "closing", "stop": {"rounds": rounds}, "task": {"kind": "quadratic", "clients": 1000, "dim": 1},
        "client": {"work": {"steps": 1}}, "server": {"close": {"plugin": "bench-buffer"}, "concurrency": 500, "evaluate_every": rounds},
        "record": {"clients": "off", "timeline": "off"},
        "fleet": {"class": [{"name": "a", "step_time": {"lognormal": {"median": "50ms", "sigma": 0.5}}}]},
    }
    rates = [100 * rounds / seconds(lambda: gp.run(free, timing_only=True, progress=False)) for _ in range(5)]
    built_in = {"server.close": {"buffer": 100}}
    native = [100 * rounds / seconds(lambda: gp.run(free, set=built_in, timing_only=True, progress=False)) for _ in range(5)]
    line("a closing rule at every arrival, client-rounds a second", f"{np.median(rates):,.0f}", f"≥ 150,000 (built in: {np.median(native):,.0f})")


def models():
    import torch
    from torch import nn

    torch.set_num_threads(1)
    clients, samples, steps, rounds = 20, 600, 200, 4
    x, y = torch.randn(clients * samples, 784), torch.randint(10, (clients * samples,))
    parts = gp.partition.iid(clients * samples, clients)
    make = lambda: nn.Sequential(nn.Linear(784, 200), nn.ReLU(), nn.Linear(200, 10))
    task = lambda: gp.torch.Task(model=make, train=(x, y), clients=parts, test=(x[:100], y[:100]))
    scenario = {
        "name": "mlp", "stop": {"rounds": rounds}, "client": {"lr": 0.01, "batch": 32, "work": {"steps": steps}},
        "server": {"close": "all", "evaluate_every": rounds}, "fleet": {"class": [{"name": "a", "step_time": "10ms"}]},
    }

    def plain():
        """What people write: the same steps from the same model for every client."""
        model, loss_of = make(), nn.CrossEntropyLoss()
        for _ in range(rounds):
            start = {name: value.clone() for name, value in model.state_dict().items()}
            sums = {name: torch.zeros_like(value) for name, value in start.items()}
            for own in parts:
                model.load_state_dict(start)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
                rows = torch.from_numpy(own.astype(np.int64))
                data, labels = x[rows], y[rows]
                for _ in range(steps):
                    batch = torch.randint(len(rows), (32,))
                    optimizer.zero_grad()
                    loss_of(model(data[batch]), labels[batch]).backward()
                    optimizer.step()
                for name, value in model.state_dict().items():
                    sums[name] += (value - start[name]) / clients
            model.load_state_dict({name: start[name] + sums[name] for name in start})

    one = task()
    gp.run(scenario, task=one, progress=False)
    ratio, *_ = side_by_side(plain, lambda: gp.run(scenario, task=task(), progress=False), times=5)
    line("gp.torch.Task, MLP 784-200-10 : a plain loop of PyTorch, speed", f"{ratio:.3f}", "≥ 0.95")
    longer = {"stop.rounds": 10 * rounds}
    ratio, *_ = side_by_side(
        lambda: gp.run(scenario, task=task(), set=longer, threads=1, progress=False),
        lambda: gp.run(scenario, task=task(), set=longer, threads=2, progress=False),
        times=3,
    )
    line("two processes : one, speed", f"{ratio:.2f}", "≥ 1.6")


if __name__ == "__main__":
    import_time()
    demo(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/release/gruppetto")
    selector()
    closing()
    try:
        import torch
    except ImportError:
        print("without PyTorch, nothing of models that it trains")
    else:
        del torch
        models()
