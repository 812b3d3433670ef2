"""Models that Python trains, without PyTorch: what a task says of itself, and how its clients train."""

import signal

import gruppetto as gp
import numpy as np
import pytest

from test_plugins import StopsAfter, digest

QUADRATIC = {
    "name": "own-model",
    "stop": {"rounds": 20},
    "client": {"lr": 0.05, "work": {"steps": {"uniform": [1, 9]}}},
    "server": {"close": "all", "sample": {"clients": 4}, "evaluate_every": 1},
    "fleet": {"class": [{"name": "phone", "step_time": {"lognormal": {"median": "50ms", "sigma": 0.8}}}]},
}
CENTERS = np.array([[1.0, -2.0], [0.0, 3.0], [4.0, 0.5], [-1.0, 1.0], [2.0, 2.0], [0.0, -1.0]])


class Pull:
    """Gradient descent on ½‖x − c‖², by the law of the scenario."""

    def __init__(self, trainer, job):
        self.trainer, self.job = trainer, job
        self.x, self.u = job.x.copy(), np.zeros(len(job.x))
        self.rate = job.solver.lr

    def steps(self, count):
        lr, momentum, prox, decay, weight_decay = self.job.solver
        for _ in range(count):
            g = self.x - self.trainer.centers[self.job.client]
            g = g + weight_decay * self.x + prox * (self.x - self.job.x)
            g = g + (0.0 if self.job.correction is None else self.job.correction)
            self.u = momentum * self.u + g
            self.x = self.x - self.rate * self.u
            self.rate *= decay

    def change(self):
        return self.x - self.job.x


@gp.plugin("pulls")
class Pulls(gp.Trainer):
    """Client i pulls to the point c_i."""

    def __init__(self, centers: list = CENTERS.tolist()) -> None:
        self.centers = np.array(centers)

    def describe(self):
        clients, dim = self.centers.shape
        if clients != self.clients:
            raise ValueError(f"{clients} centers for {self.clients} clients")
        return gp.Description(dim, metrics=["train_loss", "grad_norm"], flops=(4.0 * dim, 0.0))

    def begin(self, job):
        return Pull(self, job)

    def evaluate(self, x, part):
        away = x - self.centers
        loss = 0.5 * (away**2).sum(axis=1).mean()
        return {"train_loss": (loss, 1.0), "grad_norm": (np.linalg.norm(away.mean(axis=0)), 1.0)}

    def __len__(self):
        return len(self.centers)


def model_of(run):
    return next(iter(run.model().values()))


@pytest.mark.parametrize("changes", [{}, {"client.momentum": 0.6, "client.lr_decay": 0.9}, {"client.prox": 0.3, "client.weight_decay": 0.01}])
def test_it_is_the_built_in_quadratic(changes):
    """Same schedule, same rule, and the same model to rounding."""
    named = {"task": {"kind": {"plugin": "pulls", "centers": CENTERS.tolist()}, "clients": 6}}
    ours = gp.run({**QUADRATIC, **named}, set=changes)
    built_in = {"task": {"kind": "quadratic", "clients": 6, "dim": 2, "centers": CENTERS.tolist()}}
    theirs = gp.run({**QUADRATIC, **built_in}, set=changes)
    assert ours.clients["tau"].tolist() == theirs.clients["tau"].tolist()
    assert ours.rounds["chi2"] == pytest.approx(theirs.rounds["chi2"], abs=1e-12)
    assert model_of(ours) == pytest.approx(model_of(theirs), rel=1e-9, abs=1e-12)
    assert ours.rounds["train_loss"] == pytest.approx(theirs.rounds["train_loss"], rel=1e-9)


@pytest.mark.parametrize("reduction", ["scaffold", "fednova"])
def test_variance_reduction_hands_its_correction_over(reduction):
    changes = {"client.variance_reduction": reduction}
    ours = gp.run(QUADRATIC, task=Pulls(), set=changes)
    built_in = {"task": {"kind": "quadratic", "clients": 6, "dim": 2, "centers": CENTERS.tolist()}}
    theirs = gp.run({**QUADRATIC, **built_in}, set=changes)
    assert model_of(ours) == pytest.approx(model_of(theirs), rel=1e-9, abs=1e-12)


def test_any_number_of_processes_gives_the_same_bits():
    runs = [gp.run(QUADRATIC, task=Pulls(), threads=threads) for threads in (None, 1, 2, 3)]
    assert len({str(digest(run)) for run in runs}) == 1


def test_asynchronous_rounds_and_the_wall_clock_train_too():
    free = {**QUADRATIC, "server": {"close": {"buffer": 2}, "concurrency": 4, "evaluate_every": 1}}
    runs = [gp.run(free, task=Pulls(), threads=threads) for threads in (1, 2)]
    assert digest(runs[0]) == digest(runs[1])
    wall = {**QUADRATIC, "stop": {"rounds": 2}, "fleet": {"class": [{"name": "phone", "step_time": "2ms"}]}}
    for threads in (1, 2):
        run = gp.run(wall, task=Pulls(), threads=threads, speedup=1.0)
        assert run.summary["variants"][0]["rounds"] == 2


def test_a_killed_run_goes_on_to_the_same_bytes(tmp_path):
    longer = {"stop.rounds": 1500}
    whole = gp.run(QUADRATIC, task=Pulls(), set=longer, out=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        gp.run(QUADRATIC, task=Pulls(), set=longer, out=tmp_path / "out", observers=[StopsAfter(150)])
    resumed = gp.run(QUADRATIC, task=Pulls(), set=longer, out=tmp_path / "out", resume=True)
    assert digest(resumed) == digest(whole)
    throughput = resumed.summary["variants"][0]["throughput"]
    assert throughput["trained_steps"] < throughput["local_steps"]


class Statistic(Pulls):
    """With a mean of what was seen, and how often: buffers."""

    def describe(self):
        return gp.Description(4, metrics=["train_loss"], buffers=(1, 1), tensors=[("x", [2]), ("mean", [1]), ("count", [1])])

    def begin(self, job):
        trainer = self

        class Run(Pull):
            def __init__(self):
                super().__init__(trainer, job._replace(x=job.x[:2]))
                self.count = job.x[3]

            def steps(self, count):
                super().steps(count)
                self.count += count

            def change(self):
                return np.concatenate([super().change(), [float(job.client)], [self.count]])

        return Run()

    def evaluate(self, x, part):
        return {"train_loss": (0.5 * ((x[:2] - self.centers) ** 2).sum(axis=1).mean(), 1.0)}


def test_buffers_are_averaged_by_value_and_do_not_move_the_model():
    everybody = {**QUADRATIC, "server": {"close": "all", "evaluate_every": 1}}
    with_buffers = gp.run(everybody, task=Statistic(), set={"stop.rounds": 3}).model()
    without = gp.run(everybody, task=Pulls(), set={"stop.rounds": 3})
    assert (with_buffers["x"] == model_of(without)).all(), "to the bit"
    assert with_buffers["mean"] == pytest.approx([2.5]), "of the clients 0 to 5, with equal shares"
    most = without.clients["tau"].reshape(3, 6).max(axis=1).sum()
    assert with_buffers["count"] <= most and with_buffers["count"] > 3


def test_buffers_travel_and_are_not_compressed():
    slow = {"fleet.class": [{"name": "phone", "step_time": "1ms", "uplink": "320bps"}], "client.compression": {"top_k": 0.5}}
    took = lambda task: gp.run(QUADRATIC, task=task, set=slow, timing_only=True).clients["upload_ns"].max() / 1e9
    # One weight of two with a bit for its place, then two buffers of 32 bits.
    assert took(Pulls()) == pytest.approx(33 / 320, abs=1e-6)
    assert took(Statistic()) == pytest.approx((33 + 64) / 320, abs=1e-6)


def broken(**methods):
    return type("Broken", (Pulls,), methods)()


class ShortChange(Pull):
    def change(self):
        return np.zeros(1)


class Fails(Pull):
    def steps(self, count):
        raise ZeroDivisionError("in steps")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("task", "error", "words"),
    [
        (broken(begin=lambda self, job: ShortChange(self, job)), ValueError, "change: found 1 numbers, expected 2"),
        (broken(begin=lambda self, job: Fails(self, job)), ZeroDivisionError, "in steps"),
        (broken(start=lambda self, seed: np.zeros(5)), ValueError, "start: found 5 numbers, expected 2"),
        (broken(evaluate=lambda self, x, part: {"test_loss": (1, 1)}), ValueError, "expected metrics of describe"),
    ],
)
def test_what_is_wrong_is_told_with_client_round_and_seed(task, error, words, threads):
    with pytest.raises(error, match=words) as caught:
        gp.run(QUADRATIC, task=task, threads=threads)
    notes = "\n".join(getattr(caught.value, "__notes__", []))
    assert "seed 1" in notes
    if "steps" in words:
        assert "client" in notes and "round 1" in notes


def test_a_description_that_cannot_be_is_refused():
    with pytest.raises((ValueError, gp.ScenarioError), match="no metric"):
        gp.run(QUADRATIC, task=broken(describe=lambda self: gp.Description(2, metrics=["happiness"])))
    with pytest.raises((ValueError, gp.ScenarioError), match="parameters"):
        gp.run(QUADRATIC, task=broken(describe=lambda self: gp.Description(0)))
    with pytest.raises((ValueError, gp.ScenarioError), match="3 centers for 6 clients"):
        gp.run({**QUADRATIC, "task": {"kind": {"plugin": "pulls", "centers": CENTERS[:3].tolist()}, "clients": 6}})


def test_a_process_that_dies_is_told():
    class Dies(Pull):
        def steps(self, count):
            import os

            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(RuntimeError, match="a process that trains clients ended with exit code -9"):
        gp.run(QUADRATIC, task=broken(begin=lambda self, job: Dies(self, job)), threads=2)
