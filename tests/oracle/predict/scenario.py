"""A scenario as the oracle needs it: one variant, every default filled in (docs/scenario.md)."""

import pathlib
import tomllib

from . import safetensors, units


class Scenario:
    def __init__(self, text, folder, size=None):
        self.folder = pathlib.Path(folder)
        file = tomllib.loads(text)
        self.stop(file["stop"])
        self.task = file["task"]
        self.clients = self.task["clients"]
        self.client(file.get("client", {}))
        self.server(file.get("server", {}))
        self.fleet = file.get("fleet", {"class": [{"name": "device", "step_time": "1ms"}]})
        self.events = file.get("event", [])
        self.dim = size or self.task.get("dim") or len(self.task["centers"][0])

    def stop(self, stop):
        self.rounds = stop.get("rounds")
        self.time = units.duration(stop["time"]) if "time" in stop else None
        self.target = stop.get("target")
        self.divergence = stop.get("divergence", 10000)

    def client(self, client):
        self.law = {key: client.get(key, default) for key, default in LAW.items()}
        self.lr_schedule = client.get("lr_schedule", [])
        self.variance_reduction = client.get("variance_reduction", "none")
        compression = client.get("compression", "none")
        if isinstance(compression, str):
            compression = {compression: True}
        self.compression = compression
        self.work = client.get("work", {"until": "deadline"})

    def server(self, server):
        close = server.get("close", {"deadline": "30s"})
        self.close = {close: True} if isinstance(close, str) else close
        self.late = server.get("late", "drop")
        self.staleness = server.get("staleness", "constant")
        self.max_staleness = server.get("max_staleness")
        self.concurrency = server.get("concurrency", min(100, self.clients))
        self.keeps = server.get("partial", "keep") == "keep"
        self.weighting = server.get("weighting", "fednova")
        self.tau_eff = server.get("tau_eff", "accumulation")
        self.participation = server.get("participation", "renormalize")
        self.optimizer = server.get("optimizer", {"kind": "sgd", "lr": 1.0})
        self.scheme = server.get("scheme", "uniform")
        self.evaluate_every = server.get("evaluate_every", "auto")
        self.one_by_one = any(kind in self.close for kind in ("buffer", "each", "window"))
        self.asked = self.sample(server.get("sample", "all"))

    def sample(self, sample):
        """How many clients a round asks, None for all of them."""
        if "first" in self.close:
            return self.close["of"]
        if sample == "all":
            return None
        if "clients" in sample:
            return sample["clients"]
        return max(1, units.nearest(units.Fraction(str(sample["fraction"])) * self.clients))

    def start(self, tensors):
        """The model at first, of tensors by name."""
        init = self.task.get("init", "zeros")
        return [0.0] * self.dim if init == "zeros" else safetensors.read(self.folder / init["file"], tensors)

    def steps(self, client):
        """The steps that a client sets out to make, None for as many as fit."""
        steps = self.work.get("steps")
        return steps[client] if isinstance(steps, list) else steps

    def classes(self):
        """The class of every client: `assign = "in-order"`, by shares."""
        classes = self.fleet["class"]
        shares = [units.Fraction(str(it["share"])) if "share" in it else None for it in classes]
        if shares[0] is None:
            shares = [units.Fraction(1, len(classes))] * len(classes)
        ends, total = [], units.Fraction(0)
        for share in shares:
            total += share
            ends.append(units.nearest(total * self.clients))
        return [next(it for it, end in zip(classes, ends) if number < end) for number in range(self.clients)]


LAW = {"lr": 0.02, "momentum": 0.0, "prox": 0.0, "lr_decay": 1.0, "weight_decay": 0.0}
