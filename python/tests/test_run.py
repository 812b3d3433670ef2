"""Running scenarios from Python, and what comes out."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import gruppetto as gp
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
SMALL = """
name = "small"
stop.rounds = 6
task.clients = 5
client.work.steps = 3
[server]
close = "all"
evaluate_every = 1
[[fleet.class]]
name = "phone"
step_time = { lognormal = { median = "20ms", sigma = 0.5 } }
uplink = "1Mbps"
"""
# One that lasts.
ENDLESS = SMALL.replace("rounds = 6", "rounds = 1_000_000_000").replace("evaluate_every = 1", "evaluate_every = 1000")


def digests(summary):
    return [(cell["name"], cell["seed"], cell["digest"], cell["model_digest"]) for cell in summary["variants"]]


def pytest_generate_tests(metafunc):
    """Every shipped scenario without libtorch; the long ones with --all, as `make torture` does."""
    if "shipped" in metafunc.fixturenames:
        text = (ROOT / "scripts/same_results/shipped.py").read_text()
        names = [line.split('"')[1] for line in text[: text.index("TOO_LONG")].splitlines() if '"scenarios/' in line]
        long = names.index("scenarios/paper/figure-5-right.toml")
        metafunc.parametrize("shipped", names if metafunc.config.getoption("--all") else names[long:])


def test_the_same_digests_as_the_command(shipped, tmp_path):
    path, changes = ROOT / shipped, []
    command = [Path(sys.executable).parent / "gruppetto", "run", path, "--json", "--out", tmp_path / "command"]
    for change in changes:
        command += ["--set", change]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode in (0, 1, 3), done.stderr.decode()
    run = gp.run(path, set=changes, out=tmp_path / "python", threads=1)
    assert digests(run.summary) == digests(json.loads(done.stdout))
    for file in ("rounds.csv", "clients.csv", "findings.json", "scenario.toml"):
        found = [tmp_path / of / file for of in ("python", "command")]
        contents = [path.read_bytes() if path.exists() else None for path in found]
        assert contents[0] == contents[1], file


def test_a_scenario_is_a_path_text_or_dict(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    dictionary = {
        "name": "small",
        "stop": {"rounds": 6},
        "task": {"clients": 5},
        "client": {"work": {"steps": 3}},
        "server": {"close": "all", "evaluate_every": 1},
        "fleet": {
            "class": [
                {"name": "phone", "step_time": {"lognormal": {"median": "20ms", "sigma": 0.5}}, "uplink": "1Mbps"}
            ]
        },
    }
    runs = [gp.run(scenario) for scenario in (path, str(path), SMALL, dictionary)]
    assert all(digests(run.summary) == digests(runs[0].summary) for run in runs)


def test_overrides_seeds_repeats_and_timing_only():
    run = gp.run(SMALL, set={"stop.rounds": 2, "client.work.steps": 4}, seed=7, repeats=3)
    assert [(cell["seed"], cell["rounds"]) for cell in run.summary["variants"]] == [(7, 2), (8, 2), (9, 2)]
    assert set(run.clients["tau"]) == {4}
    timing = gp.run(SMALL, timing_only=True)
    assert timing.summary["timing_only"] and np.isnan(timing.rounds["train_loss"]).all()


def test_tables_are_columns_for_everything_that_reads_arrow():
    run = gp.run(SMALL)
    rounds = run.rounds
    assert len(rounds) == 6 and rounds["round"].tolist() == [1, 2, 3, 4, 5, 6]
    assert rounds["variant"].tolist() == ["fednova"] * 6
    import polars
    import pyarrow

    for column in ("train_loss", "virtual_seconds", "round"):
        values = rounds[column].tolist()
        assert rounds.to_pandas()[column].tolist() == values
        assert rounds.to_polars()[column].to_list() == values
        assert rounds.to_pyarrow()[column].to_pylist() == values
        assert polars.DataFrame(rounds)[column].to_list() == values
    assert isinstance(rounds.to_pyarrow(), pyarrow.Table)
    assert pyarrow.table(run.clients).num_rows == 30
    # What was not measured is missing, not NaN.
    assert rounds.to_pyarrow()["distance"].null_count == 6


def test_models_latencies_and_the_report():
    run = gp.run(SMALL)
    model = run.model()
    assert model["weight"].shape == (10, 60) and np.abs(model["weight"]).max() > 0
    upload = run.latency("upload").percentile(99)
    assert upload == pytest.approx(np.percentile(run.clients["upload_ns"] / 1e9, 99), rel=2e-3)
    with pytest.raises(ValueError, match="expected one of download"):
        run.latency("lunch")
    page = run._repr_html_()
    assert page.startswith("<iframe srcdoc=") and "small" in page and "<script" not in page
    loaded = gp.load(run.path)
    assert loaded.summary == run.summary


def test_errors_have_the_text_of_the_command():
    with pytest.raises(gp.ScenarioError) as caught:
        gp.run({"name": "x", "stop": {"round": 3}})
    assert "did you mean `rounds`?" in str(caught.value)
    with pytest.raises(gp.ScenarioError, match="cannot read nowhere.toml"):
        gp.run("nowhere.toml")
    with pytest.raises(gp.ScenarioError, match="(?s)needs libtorch.*gp.torch.Task"):
        gp.run({"name": "x", "stop": {"rounds": 1}, "task": {"kind": "images", "dataset": "mnist", "model": "mlp"}})
    with pytest.raises(TypeError, match="a scenario cannot hold"):
        gp.run({"name": "x", "stop": object()})


def test_a_folder_is_kept_and_not_replaced(tmp_path):
    out = tmp_path / "run"
    gp.run(SMALL, out=out)
    with pytest.raises(gp.RunError, match="holds an earlier run"):
        gp.run(SMALL, out=out)
    assert gp.run(SMALL, out=out, force=True).path == out


def test_the_lock_is_released_and_runs_go_on_in_several_threads():
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0)

    counter = threading.Thread(target=count)
    counter.start()
    before = counted[0]
    found = []
    runs = [threading.Thread(target=lambda: found.append(gp.run(SMALL, set={"stop.rounds": 400}))) for _ in range(3)]
    for one in runs:
        one.start()
    for one in runs:
        one.join()
    stop.set()
    counter.join()
    assert counted[0] - before > 100, "another thread makes progress"
    assert len(found) == 3 and all(digests(run.summary) == digests(found[0].summary) for run in found)


def test_ctrl_c_ends_a_run_with_everything_written(tmp_path):
    out = tmp_path / "run"
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        gp.run(ENDLESS, out=out)
    assert time.monotonic() - began < 5
    run = gp.load(out)
    assert run.summary["status"] == "interrupted" and len(run.rounds) > 10
    assert run.report.exists()
    # It goes on from there, and is not begun again.
    rounds = len(run.rounds)
    more = gp.load(out).summary["variants"][0]["rounds"]
    assert more >= rounds


def test_importing_is_quick_and_brings_nothing_large():
    code = "import time; t = time.time(); import numpy; t = time.time(); import gruppetto, sys; print(time.time() - t, *sys.modules)"
    took, *modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert float(took) < 0.15
    assert not {"torch", "pandas", "pyarrow", "polars"} & set(modules)


def test_check_and_theory():
    assert "local steps" in gp.check(SMALL)
    quadratic = "name = \"q\"\nstop.rounds = 5\ntask = { kind = \"quadratic\", clients = 3 }\nclient.work.steps = 4\n"
    outlooks = gp.theory(quadratic + "server.close = \"all\"\n")
    assert isinstance(outlooks, list) and outlooks


def test_without_pytorch_it_says_so():
    code = "import sys; sys.modules['torch'] = None; import gruppetto as gp; gp.torch.Task"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "gp.torch needs PyTorch, which is not installed: pip install torch" in done.stderr


def test_importing_it_imports_nothing_large():
    code = "import sys, gruppetto; print(sorted({'torch', 'pandas', 'pyarrow', 'polars', 'IPython', 'cloudpickle'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
