"""Monitors: what they log is what the tables have, every round and every simulated second."""

import json

import gruppetto as gp
import pytest

from test_run import SMALL


def test_tensorboard(tmp_path):
    run = gp.run(SMALL, repeats=2, observers=[gp.monitors.TensorBoard(str(tmp_path))])
    from tensorboardX.proto import event_pb2

    folders = sorted(path.name for path in tmp_path.iterdir())
    assert folders == ["fednova-1", "fednova-2"]
    events = [event for file in (tmp_path / "fednova-2").iterdir() for event in read(file, event_pb2.Event)]
    losses = {event.step: (event.wall_time, value.simple_value) for event in events for value in event.summary.value if value.tag == "train_loss"}
    second = run.rounds["seed"] == 2
    assert sorted(losses) == [0, 1, 2, 3, 4, 5, 6]
    assert [losses[step][0] for step in range(1, 7)] == pytest.approx(run.rounds["virtual_seconds"][second])
    assert [losses[step][1] for step in range(1, 7)] == pytest.approx(run.rounds["train_loss"][second], rel=1e-6)


def read(file, kind):
    """The records of a TFRecord file."""
    import struct

    data, at = file.read_bytes(), 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        yield kind.FromString(data[at + 12 : at + 12 + length])
        at += 16 + length


def test_mlflow(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    uri = (tmp_path / "mlruns").as_uri()
    monitor = gp.monitors.MLflow("tests", tracking_uri=uri)
    run = gp.run(SMALL, observers=[monitor])
    from mlflow import MlflowClient

    client = MlflowClient(tracking_uri=uri)
    (found,) = client.search_runs([client.get_experiment_by_name("tests").experiment_id])
    assert found.info.status == "FINISHED" and found.data.params == {"variant": "fednova", "seed": "1"}
    history = {entry.step: entry.value for entry in client.get_metric_history(found.info.run_id, "train_loss")}
    assert [history[step] for step in range(1, 7)] == pytest.approx(run.rounds["train_loss"])
    seconds = {entry.step: entry.value for entry in client.get_metric_history(found.info.run_id, "simulated_seconds")}
    assert [seconds[step] for step in range(1, 7)] == pytest.approx(run.rounds["virtual_seconds"])


def test_weights_and_biases(tmp_path, monkeypatch):
    monkeypatch.setenv("WANDB_SILENT", "true")
    run = gp.run(SMALL, observers=[gp.monitors.WeightsAndBiases(mode="offline", dir=str(tmp_path))])
    from wandb.proto import wandb_internal_pb2

    (file,) = (tmp_path / "wandb").glob("offline-run-*/run-*.wandb")
    rows = []
    for data in level_db_log(file.read_bytes()):
        record = wandb_internal_pb2.Record.FromString(data)
        if record.HasField("history"):
            rows.append({item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item})
    losses = [row["train_loss"] for row in rows]
    assert losses[-6:] == pytest.approx(run.rounds["train_loss"])
    assert [row["simulated_seconds"] for row in rows][-6:] == pytest.approx(run.rounds["virtual_seconds"])


def level_db_log(data, block=1 << 15):
    """The records of a log in LevelDB's format, after a header of seven bytes."""
    at, parts = 7, b""
    while at + 7 <= len(data):
        length, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        if block - at % block < 7 or kind == 0:
            at += block - at % block
            continue
        parts += data[at + 7 : at + 7 + length]
        at += 7 + length
        # Whole, or the last of several.
        if kind in (1, 4):
            yield parts
            parts = b""


def test_without_their_packages_they_say_what_to_install(monkeypatch):
    import sys

    for name, make in (("wandb", gp.monitors.WeightsAndBiases), ("mlflow", gp.monitors.MLflow), ("tensorboardX", gp.monitors.TensorBoard)):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=f"pip install {name}"):
            make()
