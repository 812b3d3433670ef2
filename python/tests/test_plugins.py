"""Hooks in Python: what they see, what they decide, and what is said of nonsense."""

import math
import os
import signal
import threading
import time

import gruppetto as gp
import numpy as np
import pytest

SCENARIO = {
    "name": "hooks",
    "stop": {"rounds": 12},
    "task": {"clients": 8, "features": 5, "classes": 3},
    "client": {"work": {"steps": 4}},
    "server": {"close": "all", "sample": {"clients": 3}, "evaluate_every": 1},
    "fleet": {"class": [{"name": "phone", "step_time": {"lognormal": {"median": "50ms", "sigma": 0.8}}, "jitter": 0.3}]},
}


def digest(run):
    return [(cell["digest"], cell["model_digest"]) for cell in run.summary["variants"]]


@gp.plugin("in-turn")
class InTurn(gp.Selector):
    """The built-in round-robin: clients in the order of their numbers, going on where the last round ended."""

    def __init__(self) -> None:
        self.next = 0

    def select(self, view: gp.View, rng: gp.Rng):
        clients = len(view.p)
        order = (self.next + np.arange(clients)) % clients
        chosen = order[view.available[order]][: view.wanted]
        if len(chosen):
            self.next = int(chosen[-1] + 1) % clients
        return chosen


def test_round_robin_in_python_is_the_built_in_one():
    ours = gp.run(SCENARIO, set={"server.scheme": {"plugin": "in-turn"}})
    built_in = gp.run(SCENARIO, set={"server.scheme": "round-robin"})
    assert digest(ours) == digest(built_in)


@gp.plugin("own-oort")
class Oort(gp.Selector):
    """The built-in Oort with a given round time (Lai et al., OSDI 2021)."""

    def __init__(self, round_time: float) -> None:
        self.round_time = round_time
        self.known: dict[int, tuple[int, float, float]] = {}

    def scores(self, view):
        heard = {client: told for client, told in sorted(self.known.items()) if view.available[client]}
        brought = sorted(utility for _, _, utility in heard.values() if utility > 0)
        least = 0.999 * brought[0] if brought else math.inf
        most = brought[min(int(0.95 * len(brought)), len(brought) - 1)] if brought else 0.0
        scores = []
        for client, (round, took, utility) in heard.items():
            above = min(utility, most) - least
            score = (above / (most - least) if above > 0 else 0.0) + math.sqrt(0.1 * math.log(view.round) / round)
            slow = math.pow(round_nanos(self.round_time) / round_nanos(took), 2.0)
            scores.append((score * slow if took > self.round_time else score, client))
        return sorted(scores, key=lambda entry: (-entry[0], entry[1]))

    def select(self, view, rng):
        available = np.flatnonzero(view.available)
        if view.wanted >= len(available):
            return available
        scores = self.scores(view)
        untried = view.available.copy()
        untried[list(self.known)] = False
        part = max(0.9 * math.pow(0.98, view.round - 1.0), 0.2) * view.wanted
        explored = max(min(math.ceil(part - 1e-9), int(untried.sum())), view.wanted - len(scores))
        chosen = rng.draw(explored, untried, stream=3)
        if explored < view.wanted:
            last = scores[view.wanted - explored - 1][0]
            kept = sorted((client, score) for score, client in scores if score >= 0.95 * last)
            drawn = rng.uniforms(len(kept), stream=2).tolist()
            # Each comes after a time drawn with its score as the rate; the first ones are asked.
            coming = sorted((-math.log(1.0 - u) / score if score else math.inf, client) for u, (client, score) in zip(drawn, kept))
            chosen += [client for _, client in coming[: view.wanted - explored]]
        return chosen

    def heard(self, feedback):
        utility = self.fleet.p[feedback.client] * feedback.norm
        if utility == utility:
            self.known[feedback.client] = (feedback.round, feedback.duration, float(utility))


def round_nanos(seconds):
    return float(round(seconds * 1e9))


def test_oort_in_python_is_the_built_in_one():
    many = {**SCENARIO, "stop": {"rounds": 60}, "task": {"clients": 60}, "server": {"close": "all", "sample": {"clients": 6}}}
    ours = gp.run(many, set={"server.scheme": {"plugin": "own-oort", "round_time": 1.0}})
    built_in = gp.run(many, set={"server.scheme": {"oort": {"round_time": "1s"}}})
    assert digest(ours) == digest(built_in)


@gp.plugin("buffer")
class Buffer(gp.Closing):
    """FedBuff: the round closes with the k-th update, from whichever model."""

    one_by_one = True

    def __init__(self, k: int = 3) -> None:
        self.k, self.count = k, 0

    def opened(self, round):
        self.count = 0

    def arrived(self, update):
        self.count += 1
        return gp.Verdict(close=self.count == self.k)


def test_fedbuff_in_python_is_the_built_in_one():
    free = {**SCENARIO, "server": {"concurrency": 5, "evaluate_every": 1}}
    ours = gp.run({**free, "server": {**free["server"], "close": {"plugin": "buffer", "k": 3}}})
    built_in = gp.run({**free, "server": {**free["server"], "close": {"buffer": 3}}})
    assert digest(ours) == digest(built_in)


@gp.plugin("by-share")
class ByShare(gp.Weighting):
    def weigh(self, update):
        return update.p


@gp.plugin("plain")
class Plain(gp.ServerOptimizer):
    def apply(self, x, direction, factor, applied, client_lr, updates):
        x += factor * direction


def test_fednova_and_sgd_in_python_are_the_built_in_ones():
    ours = gp.run(SCENARIO, set={"server.weighting": {"plugin": "by-share"}, "server.optimizer": {"plugin": "plain"}})
    assert digest(ours) == digest(gp.run(SCENARIO))


@gp.plugin("slow-moving")
class SlowMoving(gp.ServerOptimizer):
    """The median of the updates, with momentum: it collects, and has a state."""

    collects = True

    def __init__(self) -> None:
        self.velocity = None

    def apply(self, x, direction, factor, applied, client_lr, updates):
        steps = np.median([held.delta / held.update.accumulation for held in updates], axis=0)
        self.velocity = applied.tau_eff * steps + (0 if self.velocity is None else 0.5 * self.velocity)
        x += self.velocity

    def save(self):
        return [] if self.velocity is None else self.velocity

    def load(self, state):
        self.velocity = state if len(state) else None


@gp.plugin("growing")
class Growing(gp.Work):
    def __init__(self) -> None:
        self.calls = 0

    def amount(self, ask, rng):
        self.calls += 1
        return 1 + self.calls // 4 + int(rng.integers(3))


@gp.plugin("largest")
class Largest(gp.Selector):
    def __init__(self) -> None:
        self.norms = {}

    def select(self, view, rng):
        noise = rng.generator.random(len(view.p))
        score = np.array([self.norms.get(client, 9.0) for client in range(len(view.p))]) + noise
        order = np.argsort(-score)
        return order[view.available[order]][: view.wanted]

    def heard(self, feedback):
        self.norms[feedback.client] = feedback.norm


REMEMBERS = {
    "server.optimizer": {"plugin": "slow-moving"},
    "client.work": {"plugin": "growing"},
    "server.scheme": {"plugin": "largest"},
}


class StopsAfter(gp.Observer):
    """Interrupts the run as Ctrl-C does."""

    def __init__(self, rounds):
        self.rounds = rounds

    def closed(self, round):
        if round.round == self.rounds:
            import signal

            os.kill(os.getpid(), signal.SIGINT)


def test_any_number_of_threads_gives_the_same_bits():
    runs = [gp.run(SCENARIO, set=REMEMBERS, threads=threads) for threads in (1, 2, 7)]
    assert digest(runs[0]) == digest(runs[1]) == digest(runs[2])


def test_a_run_with_hooks_goes_on_to_the_same_bytes(tmp_path):
    longer = {**REMEMBERS, "stop.rounds": 3000}
    whole = gp.run(SCENARIO, set=longer, out=tmp_path / "whole")
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        gp.run(SCENARIO, set=longer, out=out, observers=[StopsAfter(200)])
    rounds = gp.load(out).summary["variants"][0]["rounds"]
    assert 200 <= rounds < 3000
    resumed = gp.run(SCENARIO, set=longer, out=out, resume=True)
    assert digest(resumed) == digest(whole)
    for file in ("rounds.csv", "clients.csv", "findings.json"):
        assert (out / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file
    steps = resumed.summary["variants"][0]["throughput"]
    assert steps["trained_steps"] < steps["local_steps"], "it was not begun again"


def test_observers_are_told_everything():
    class Told(gp.Observer):
        def __init__(self):
            self.rounds, self.arrivals, self.ends = [], [], 0

        def closed(self, round):
            self.rounds.append(round)

        def arrived(self, arrivals):
            self.arrivals += arrivals

        def ended(self, seconds):
            self.ends += 1

    told = Told()
    run = gp.run(SCENARIO, observers=[told])
    assert [round.round for round in told.rounds] == run.rounds["round"].tolist()
    assert [round.seconds for round in told.rounds] == pytest.approx(run.rounds["virtual_seconds"])
    assert told.rounds[3].metrics["train_loss"] == run.rounds["train_loss"][3]
    assert len(told.arrivals) == len(run.clients) and told.ends == 1
    assert [arrival.tau for arrival in told.arrivals] == run.clients["tau"].tolist()


def brought(kind, name, **methods):
    return gp.plugin(name)(type(name, (kind,), methods))


def raises(error):
    def method(self, *_):
        raise error

    return method


brought(gp.Selector, "nobody-there", select=lambda self, view, rng: [99])
brought(gp.Selector, "twice", select=lambda self, view, rng: [1, 1])
brought(gp.Selector, "negative", select=lambda self, view, rng: [-1])
brought(gp.Selector, "fractions", select=lambda self, view, rng: [0.5])
brought(gp.Selector, "text", select=lambda self, view, rng: "all")
brought(gp.Selector, "none", select=lambda self, view, rng: None)
brought(gp.Selector, "square", select=lambda self, view, rng: [[0, 1]])
brought(gp.Selector, "fails", select=raises(ZeroDivisionError("in select")))
brought(gp.Selector, "missing")
brought(gp.Weighting, "not-a-number", weigh=lambda self, update: float("nan"))
brought(gp.Weighting, "a-word", weigh=lambda self, update: "much")
brought(gp.Weighting, "bad-scale", weigh=lambda self, update: 1.0, closed=lambda self, sums: (1.0, float("inf")))
brought(gp.ServerOptimizer, "raises", apply=raises(RuntimeError("in apply")))
brought(gp.Work, "no-steps", amount=lambda self, ask, rng: 0)
brought(gp.Work, "half-a-step", amount=lambda self, ask, rng: 0.5)
brought(gp.Closing, "odd-verdict", arrived=lambda self, update: "close")
brought(gp.Closing, "too-much", arrived=lambda self, update: gp.Verdict(counts=1.5))
brought(gp.Selector, "too-many", select=lambda self, view, rng: np.arange(8))
brought(gp.Selector, "away", select=lambda self, view, rng: np.flatnonzero(~view.present)[:1])
brought(gp.Weighting, "nothing", weigh=lambda self, update: None)
brought(gp.ServerOptimizer, "wrong-length", apply=lambda self, x, direction, *rest: x.__iadd__(direction[:3]))
brought(gp.ServerOptimizer, "read-only", apply=lambda self, x, direction, *rest: direction.__iadd__(1.0))
brought(gp.Closing, "before-now", opened=lambda self, round: gp.Opened(wake=-1.0), arrived=lambda self, update: None)


@pytest.mark.parametrize(
    ("key", "name", "error", "words"),
    [
        ("server.scheme", "nobody-there", ValueError, "round 1: found 99, expected clients from 0 to 7"),
        ("server.scheme", "twice", ValueError, "client 1 twice"),
        ("server.scheme", "negative", ValueError, "found -1, expected clients from 0 to 7"),
        ("server.scheme", "fractions", ValueError, "expected a list or array of client numbers"),
        ("server.scheme", "text", ValueError, "expected a list or array of client numbers"),
        ("server.scheme", "none", ValueError, "expected a list or array of client numbers"),
        ("server.scheme", "square", ValueError, "expected a list or array of client numbers"),
        ("server.scheme", "fails", ZeroDivisionError, "in select"),
        ("server.scheme", "missing", NotImplementedError, "missing has no method select"),
        ("server.weighting", "not-a-number", ValueError, "found nan, expected a finite number"),
        ("server.weighting", "a-word", ValueError, "could not convert"),
        ("server.weighting", "bad-scale", ValueError, "expected finite numbers"),
        ("server.optimizer", "raises", RuntimeError, "in apply"),
        ("client.work", "no-steps", ValueError, "found 0, expected steps"),
        ("client.work", "half-a-step", ValueError, "found 0.5, expected steps"),
        ("server.close", "odd-verdict", ValueError, "found 'close', expected gp.Verdict or None"),
        ("server.close", "too-much", ValueError, "found 1.5, expected a factor from 0 to 1"),
        ("server.scheme", "too-many", gp.RunError, "8 clients"),
        ("server.weighting", "nothing", TypeError, "NoneType"),
        ("server.optimizer", "wrong-length", ValueError, "broadcast"),
        ("server.optimizer", "read-only", ValueError, "read-only"),
        ("server.close", "before-now", ValueError, "found -1.0, expected seconds, 0 or more"),
    ],
)
def test_nonsense_ends_the_run_with_its_name(key, name, error, words, tmp_path):
    with pytest.raises(error) as caught:
        gp.run(SCENARIO, set={key: {"plugin": name}}, out=tmp_path / "run")
    assert words in str(caught.value)
    assert gp.load(tmp_path / "run").summary["status"] == "incomplete", "what was recorded is kept"


def test_parameters_are_checked_at_their_place():
    with pytest.raises(gp.ScenarioError) as caught:
        gp.run(SCENARIO, set={"server.close": {"plugin": "buffer", "size": 3}})
    assert "size" in str(caught.value) and "k" in str(caught.value)
    with pytest.raises(gp.ScenarioError, match="in-turn"):
        gp.run(SCENARIO, set={"server.scheme": {"plugin": "in-turns"}})
    with pytest.raises(TypeError, match="derived from gp.Selector"):
        gp.plugin("x")(object)


def test_a_closing_rule_hears_of_updates_that_come_too_late():
    class Told(gp.Closing):
        deadline, leaves_behind = True, True
        heard: list = []

        def opened(self, round):
            return gp.Opened(deadline=0.5)

        def arrived(self, update):
            return None

        def came_late(self, update):
            self.heard.append((update.client, update.now - update.asked))

    gp.plugin("told-late")(Told)
    run = gp.run(SCENARIO, set={"server.close": {"plugin": "told-late"}, "client.work": {"steps": 12}, "server.partial": "discard"})
    late = run.clients["outcome"] == "late"
    assert late.any() and [client for client, _ in Told.heard] == run.clients["client"][late].tolist()
    took = (run.clients["arrived_ns"] - run.clients["dispatched_ns"])[late] / 1e9
    assert [seconds for _, seconds in Told.heard] == pytest.approx(took)


def test_a_client_that_is_away_cannot_be_asked():
    phone = {**SCENARIO["fleet"]["class"][0], "availability": {"on": "2s", "off": "2s"}}
    away = {**SCENARIO, "fleet": {"class": [phone]}}
    with pytest.raises(gp.RunError, match="round 1.*client [0-7]"):
        gp.run(away, set={"server.scheme": {"plugin": "away"}})


def test_exceptions_say_where_they_were_raised():
    with pytest.raises(ZeroDivisionError) as caught:
        gp.run(SCENARIO, set={"server.scheme": {"plugin": "fails"}}, seed=4)
    assert any("fails" in note and "round 1, seed 4" in note for note in caught.value.__notes__)


def test_a_hook_that_sleeps_lets_others_work_and_can_be_interrupted():
    class Sleeps(gp.Selector):
        def select(self, view, rng):
            time.sleep(0.2)
            return np.flatnonzero(view.available)[: view.wanted]

    gp.plugin("sleeps")(Sleeps)
    counted = [0]
    over = threading.Event()

    def count():
        while not over.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        gp.run(SCENARIO, set={"server.scheme": {"plugin": "sleeps"}, "stop.rounds": 1000})
    took = time.monotonic() - began
    over.set()
    thread.join()
    assert took < 5.0 and counted[0] > 100


def test_a_hook_that_forks_does_not_double_the_run(tmp_path, capfd):
    class Forks(gp.Selector):
        def select(self, view, rng):
            if view.round == 3:
                os.fork()
            if view.round == 5 and os.fork() == 0:
                os._exit(0)
            return np.flatnonzero(view.available)[: view.wanted]

    class Same(gp.Selector):
        def select(self, view, rng):
            return np.flatnonzero(view.available)[: view.wanted]

    runs = []
    for name, brought in (("forks", Forks), ("same", Same)):
        gp.plugin(name)(brought)
        runs.append(gp.run(SCENARIO, set={"server.scheme": {"plugin": name}}, out=tmp_path / name))
    assert digest(runs[0]) == digest(runs[1])
    assert "a hook forked, and its child came back" in capfd.readouterr().err


def test_arrays_that_a_hook_keeps_stay_what_they_were():
    class Keeps(gp.ServerOptimizer):
        kept: list = []

        def apply(self, x, direction, factor, applied, client_lr, updates):
            x += factor * direction
            self.kept.append((x, x.copy(), direction, direction.copy()))

    gp.plugin("keeps")(Keeps)
    run = gp.run(SCENARIO, set={"server.optimizer": {"plugin": "keeps"}})
    assert digest(run) == digest(gp.run(SCENARIO)) and len(Keeps.kept) == 12
    for x, x_then, direction, direction_then in Keeps.kept:
        assert (x == x_then).all() and (direction == direction_then).all()
    assert not np.shares_memory(Keeps.kept[0][0], Keeps.kept[1][0])
