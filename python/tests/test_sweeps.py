"""Many runs: sweeps, tables of all of them, merged runs."""

import threading

import gruppetto as gp
import numpy as np
import pytest

SCENARIO = {
    "name": "many",
    "stop.rounds": 3,
    "task.clients": 5,
    "client.work": {"until": "deadline"},
    "fleet.class": [{"name": "a", "step_time": "50ms", "jitter": 0.2}],
    "variant": [{"name": "nova"}, {"name": "avg", "set": {"server.weighting": "fedavg"}}],
}
SWEEP = {"server.close.deadline": ["1s", "2s"], "client.lr": [0.01, 0.1]}


def test_every_combination_has_a_row_and_a_model():
    run = gp.run(SCENARIO, sweep=SWEEP, repeats=2)
    assert len(run.runs) == 16
    frame = run.runs.to_pandas()
    assert frame["server.close.deadline"].tolist()[::4] == ["1s", "2s"] * 2
    assert run.runs["client.lr"].dtype == np.float64, "numbers are numbers"
    mean = frame.groupby(["variant", "server.close.deadline", "client.lr"])["train_loss"].mean()
    assert len(mean) == 8
    told = {(one["variant"], *one["swept"].values()): one["metrics"]["train_loss"]["mean"] for one in run.summary["over_seeds"]}
    assert {key: pytest.approx(value) for key, value in mean.items()} == told
    assert "client.lr" in run.rounds.columns and "client.lr" in run.clients.columns
    assert run.runs.to_polars()["client.lr"].to_list() == run.runs["client.lr"].tolist()
    model = run.model("avg", seed=2, deadline="2s", lr=0.1)
    alone = gp.run(SCENARIO, set={"server.close.deadline": "2s", "client.lr": 0.1}, repeats=2)
    np.testing.assert_array_equal(model["weight"], alone.model("avg", seed=2)["weight"])
    label = run.model("avg deadline=2s lr=0.1", seed=2)
    np.testing.assert_array_equal(model["weight"], label["weight"])
    assert run.latency("round", "avg", deadline="2s", lr=0.1).percentile(50) > 1
    with pytest.raises(ValueError, match="say which of avg deadline=1s lr=0.01, avg deadline=1s lr=0.1"):
        run.model("avg", deadline="1s")
    with pytest.raises(ValueError, match="'momentum' is not swept: the run sweeps deadline, lr"):
        run.model("avg", momentum=0.5)
    with pytest.raises(ValueError, match="the run has"):
        run.model("avg", deadline="3s", lr=0.1)


def test_a_sweep_in_the_scenario_and_what_is_wrong_with_one():
    run = gp.run({**SCENARIO, "sweep": SWEEP})
    assert len(run.runs) == 8
    assert "60 runs" in gp.check(SCENARIO, sweep={"client.lr": [0.1, 0.2, 0.3]}, repeats=10)
    with pytest.raises(TypeError, match=r"sweep\['client.lr'\]: found 0.1, expected a list of values"):
        gp.run(SCENARIO, sweep={"client.lr": 0.1})
    with pytest.raises(gp.ScenarioError, match="`seed` cannot be swept"):
        gp.run(SCENARIO, sweep={"seed": [1, 2]})


def test_runs_side_by_side_are_the_same_and_observers_hear_of_one_after_the_other():
    one = gp.run(SCENARIO, sweep=SWEEP, jobs=1)
    other = gp.run(SCENARIO, sweep=SWEEP, jobs=3)
    assert one.runs["digest"].tolist() == other.runs["digest"].tolist()

    class Listener(gp.Observer):
        def __init__(self):
            self.heard, self.threads = [], set()

        def closed(self, round):
            self.heard.append(round.round)
            self.threads.add(threading.get_ident())

    listener = Listener()
    gp.run(SCENARIO, sweep=SWEEP, observers=[listener])
    assert listener.heard == [1, 2, 3] * 8


def test_plugins_work_side_by_side():
    @gp.plugin("first-ones")
    class FirstOnes(gp.Selector):
        def select(self, view, rng):
            return np.flatnonzero(view.available)[: view.wanted]

    change = {"server.scheme": {"plugin": "first-ones"}, "server.sample.clients": 3}
    one, other = (gp.run(SCENARIO, set=change, sweep=SWEEP, jobs=jobs) for jobs in (1, 4))
    assert one.runs["digest"].tolist() == other.runs["digest"].tolist()


def test_seeds_that_were_run_apart_become_one_run(tmp_path):
    apart = [gp.run(SCENARIO, sweep=SWEEP, seed=seed, out=tmp_path / str(seed)) for seed in (1, 2)]
    merged = gp.merge([run.path for run in apart])
    whole = gp.run(SCENARIO, sweep=SWEEP, seed=1, repeats=2)
    assert merged.runs["digest"].tolist() == whole.runs["digest"].tolist()
    assert (merged.path / "rounds.csv").read_bytes() == (whole.path / "rounds.csv").read_bytes()
    np.testing.assert_array_equal(
        merged.model("nova", seed=2, deadline="1s", lr=0.1)["bias"],
        whole.model("nova", seed=2, deadline="1s", lr=0.1)["bias"],
    )
    with pytest.raises(gp.RunError, match="both have nova deadline=1s lr=0.01 with seed 1"):
        gp.merge([apart[0].path, apart[0].path])
    kept = gp.merge([tmp_path], out=tmp_path / "both")
    assert kept.report.exists() and len(gp.load(tmp_path / "both").runs) == 16
