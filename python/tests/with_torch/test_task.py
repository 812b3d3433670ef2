"""PyTorch models: the law of the scenario, the same bits, buffers, adapters, optimisers of one's own, any data."""

import warnings

import gruppetto as gp
import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import Dataset, Subset, TensorDataset

SCENARIO = {
    "name": "torch",
    "stop": {"rounds": 8},
    "client": {"lr": 0.05, "batch": 8, "work": {"until": "deadline"}},
    "server": {"close": {"deadline": "2s"}, "evaluate_every": 2},
    "fleet": {"class": [{"name": "phone", "step_time": {"lognormal": {"median": "150ms", "sigma": 0.6}}, "uplink": "1Mbps"}]},
}
FEATURES, CLASSES, CLIENTS = 6, 4, 5


def points(count, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, FEATURES)).astype(np.float32)
    truth = np.random.default_rng(1).normal(size=(FEATURES, CLASSES))
    return x, (x @ truth + 0.3 * rng.normal(size=(count, CLASSES))).argmax(axis=1)


X, Y = points(300)
TEST_X, TEST_Y = points(80, seed=2)
TRAIN = TensorDataset(torch.from_numpy(X), torch.from_numpy(Y))
TEST = TensorDataset(torch.from_numpy(TEST_X), torch.from_numpy(TEST_Y))
PARTS = gp.partition.dirichlet(Y, clients=CLIENTS, alpha=0.7, seed=1)


def linear():
    model = nn.Linear(FEATURES, CLASSES)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    return model


def normed():
    """Everything that could make bits depend on who computes: dropout, batch norm."""
    return nn.Sequential(nn.Linear(FEATURES, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, CLASSES))


def task(model=linear, **more):
    return gp.torch.Task(model=model, train=TRAIN, clients=PARTS, test=TEST, **more)


def digest(run):
    return [(cell["digest"], cell["model_digest"]) for cell in run.summary["variants"]]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """The same data as a file that the native softmax regression learns from."""
    path = tmp_path_factory.mktemp("data") / "points.npz"
    np.savez(path, x_train=X, y_train=Y, x_test=TEST_X, y_test=TEST_Y)
    return path


LAWS = [
    {},
    {"client.momentum": 0.7},
    {"client.prox": 0.4, "client.weight_decay": 0.02},
    {"client.momentum": 0.5, "client.lr_decay": 0.95, "client.prox": 0.1},
    {"client.variance_reduction": "scaffold"},
    {"client.variance_reduction": "fednova"},
    {"server.optimizer": {"kind": "momentum", "momentum": 0.5}},
    {"client.batch": "full"},
]


@pytest.mark.parametrize("changes", LAWS, ids=str)
def test_a_linear_model_is_the_native_softmax_regression(table, changes):
    """Same partition, same order of batches, same law: the same model to single precision."""
    native = {**SCENARIO, "task": {"kind": "table", "file": str(table), "clients": CLIENTS, "partition": {"scheme": {"dirichlet": 0.7}}}}
    theirs = gp.run(native, set=changes)
    ours = gp.run(SCENARIO, set=changes, task=task(train_loss=True))
    assert ours.clients["tau"].tolist() == theirs.clients["tau"].tolist()
    assert ours.clients["arrived_ns"].tolist() == theirs.clients["arrived_ns"].tolist(), "as many bits travel"
    for metric in ("train_loss", "test_loss", "test_accuracy"):
        known = ~np.isnan(theirs.rounds[metric])
        assert ours.rounds[metric][known] == pytest.approx(theirs.rounds[metric][known], rel=2e-4, abs=2e-4), metric
    native_model, own = theirs.model(), ours.model()
    weight = next(value for value in native_model.values() if value.ndim == 2)
    flat = np.sort(np.concatenate([value.ravel() for value in native_model.values()]))
    assert np.sort(np.concatenate([own["weight"].ravel(), own["bias"]])) == pytest.approx(flat, rel=2e-3, abs=2e-5)
    assert weight.size == own["weight"].size


OWNERS = np.random.default_rng(4).choice(["ann", "bo", "cy", "di", "ed"], size=len(Y))


@pytest.mark.parametrize(
    ("scheme", "parts"),
    [
        ("iid", gp.partition.iid(len(Y), CLIENTS, seed=3)),
        ({"shards": 3}, gp.partition.shards(Y, CLIENTS, each=3, seed=3)),
        ({"dirichlet": 0.3}, gp.partition.dirichlet(Y, CLIENTS, alpha=0.3, seed=3)),
        ("natural", gp.partition.natural(OWNERS)),
    ],
    ids=str,
)
def test_partitions_are_those_of_scenarios(tmp_path, scheme, parts):
    """Clients have the same samples: the same numbers, and the same model after a few full batches."""
    first, numbers = np.unique(OWNERS, return_inverse=True)
    np.savez(tmp_path / "points.npz", x_train=X, y_train=Y, x_test=TEST_X, y_test=TEST_Y, owner=numbers)
    table = {"kind": "table", "file": str(tmp_path / "points.npz"), "clients": CLIENTS, "partition": {"scheme": scheme}}
    table |= {"client": "owner"} if scheme == "natural" else {}
    changes = {"client.batch": "full", "stop.rounds": 3, "server.weighting": "fedavg"}
    theirs = gp.run({**SCENARIO, "seed": 3, "task": table}, set=changes)
    ours = gp.run({**SCENARIO, "seed": 3}, set=changes, task=gp.torch.Task(model=linear, train=TRAIN, clients=parts, test=TEST))
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(Y)))
    assert ours.rounds["test_loss"][-1] == pytest.approx(theirs.rounds["test_loss"][-1], rel=1e-5)
    assert ours.clients["tau"].tolist() == theirs.clients["tau"].tolist()


def test_any_number_of_processes_gives_the_same_bits():
    runs = [gp.run(SCENARIO, task=task(normed), threads=threads) for threads in (None, 2, 3)]
    assert digest(runs[0]) == digest(runs[1]) == digest(runs[2])


def test_what_the_user_draws_meanwhile_changes_nothing():
    class Draws(gp.Observer):
        def closed(self, round):
            torch.rand(3), np.random.rand(), torch.manual_seed(round.round)

    torch.manual_seed(5)
    before = torch.get_rng_state()
    run = gp.run(SCENARIO, task=task(normed))
    assert torch.equal(torch.get_rng_state(), before), "and the run does not change what the user draws"
    assert digest(gp.run(SCENARIO, task=task(normed), observers=[Draws()])) == digest(run)


def test_batch_norm_is_averaged_by_value_and_counts_take_the_most():
    run = gp.run(SCENARIO, task=task(normed), set={"stop.rounds": 1, "client.work": {"steps": 3}})
    model = run.model()
    assert model["1.num_batches_tracked"] == 3
    means = []
    for client in range(CLIENTS):
        alone = gp.torch.Task(model=normed, train=TRAIN, clients=PARTS)
        alone.clients, alone.seed, alone.batch = CLIENTS, 1, 8
        alone._known = alone.describe()
        job = gp.Job(alone.start(1), client, 1, gp.Solver(0.05, 0.0, 0.0, 1.0, 0.0), None, None, 0)
        local = alone.begin(job)
        local.steps(3)
        change = local.change()
        assert change[-1] == 3 and len(change) == alone._known.parameters
        means.append(alone.vector().module[1].running_mean.numpy().copy())
    p = np.array([len(own) for own in PARTS]) / len(Y)
    assert model["1.running_mean"] == pytest.approx(p @ np.array(means), rel=1e-5, abs=1e-7)


class Adapted(nn.Module):
    """A frozen net with a low-rank adapter."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(FEATURES, 200).requires_grad_(False)
        self.down, self.up = nn.Linear(FEATURES, 2, bias=False), nn.Linear(2, 200, bias=False)
        self.head = nn.Linear(200, CLASSES).requires_grad_(False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.head(torch.relu(self.body(x) + self.up(self.down(x))))


def test_frozen_parameters_neither_travel_nor_change():
    run = gp.run(SCENARIO, task=task(Adapted))
    assert sorted(run.model()) == ["down.weight", "up.weight"]
    sent = 32 * (2 * FEATURES + 2 * 200)
    assert run.clients["upload_ns"].max() == pytest.approx(sent / 1e6 * 1e9, rel=1e-6)
    assert not np.allclose(run.model()["up.weight"], 0.0)


def test_an_optimizer_that_is_linear_gets_its_accumulation(table):
    """SGD with momentum of PyTorch is the scenario's momentum."""
    sgd = lambda model, lr: torch.optim.SGD([p for p in model.parameters()], lr=lr, momentum=0.7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = gp.run(SCENARIO, task=task(optimizer=sgd))
    theirs = gp.run(SCENARIO, task=task(), set={"client.momentum": 0.7})
    assert ours.clients["accumulation"] == pytest.approx(theirs.clients["accumulation"], rel=1e-9)
    assert ours.model()["weight"] == pytest.approx(theirs.model()["weight"], rel=1e-3, abs=1e-6)


@pytest.mark.parametrize(("decay", "nesterov"), [(0.0, True), (0.1, False), (0.1, True)])
def test_nesterov_and_weight_decay_by_closed_form(decay, nesterov):
    rho, lr = 0.6, 0.05
    sgd = lambda model, lr: torch.optim.SGD(model.parameters(), lr=lr, momentum=rho, nesterov=nesterov, weight_decay=decay)
    run = gp.run(SCENARIO, task=task(optimizer=sgd))
    u = a = 0.0
    known = []
    for _ in range(int(run.clients["tau"].max())):
        u = rho * u + 1.0
        a += 1.0 + rho * u if nesterov else u
        known.append(a)
    used = run.clients["tau"] > 0
    expected = [known[int(tau) - 1] for tau in run.clients["tau"][used]]
    assert run.clients["accumulation"][used] == pytest.approx(expected, rel=1e-9)
    assert lr == SCENARIO["client"]["lr"]


def test_adam_and_groups_are_normalised_by_steps_and_that_is_said():
    adam = lambda model, lr: torch.optim.Adam(model.parameters(), lr=lr)
    with pytest.warns(RuntimeWarning, match="normalised by τ: its optimizer, Adam, is not linear"):
        run = gp.run(SCENARIO, task=task(optimizer=adam))
    assert run.clients["accumulation"].tolist() == run.clients["tau"].tolist()
    [remark] = run.summary["variants"][0]["remarks"]
    assert "normalised by τ: its optimizer, Adam, is not linear" in remark
    assert remark in run.report.read_text(encoding="utf-8")

    def groups(model, lr):
        return torch.optim.SGD([{"params": [model.weight]}, {"params": [model.bias], "lr": 0.1 * lr}], lr=lr)

    with pytest.warns(RuntimeWarning, match="parameter groups with different settings"):
        run = gp.run(SCENARIO, task=task(optimizer=groups))
    assert run.clients["accumulation"].tolist() == run.clients["tau"].tolist()
    with pytest.raises(ValueError, match="client.momentum of the scenario has no effect"):
        gp.run(SCENARIO, task=task(optimizer=groups), set={"client.momentum": 0.5})


class Lazy(Dataset):
    """Samples that are made when they are asked for."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, row):
        return torch.from_numpy(X[self.rows[row]]), int(Y[self.rows[row]])


def test_every_way_to_hold_the_same_data_is_the_same_run():
    ways = {
        "one dataset": task(),
        "arrays": gp.torch.Task(model=linear, train=(X, Y), clients=PARTS, test=(TEST_X, TEST_Y)),
        "subsets": gp.torch.Task(model=linear, train=[Subset(TRAIN, own.tolist()) for own in PARTS], test=TEST),
        "lazy": gp.torch.Task(model=linear, train=[Lazy(own) for own in PARTS], test=TEST),
        "tensors": gp.torch.Task(model=linear, train=[TensorDataset(*TRAIN[own.astype(np.int64)]) for own in PARTS], test=TEST),
    }
    found = {name: digest(gp.run(SCENARIO, task=one)) for name, one in ways.items()}
    assert all(one == found["arrays"] for one in found.values()), found


def test_a_dataset_of_hugging_face_works_as_it_is():
    import datasets

    held = datasets.Dataset.from_dict({"features": X.tolist(), "label": Y.tolist()})
    tested = datasets.Dataset.from_dict({"features": TEST_X.tolist(), "label": TEST_Y.tolist()})
    ours = gp.torch.Task(model=linear, train=held, clients=PARTS, test=tested)
    assert digest(gp.run(SCENARIO, task=ours)) == digest(gp.run(SCENARIO, task=task()))


def test_a_step_of_ones_own_and_a_collate():
    def step(model, batch):
        return nn.functional.cross_entropy(model(batch["x"]), batch["y"])

    def collate(items):
        return {"x": torch.stack([x for x, _ in items]), "y": torch.tensor([y for _, y in items])}

    ours = gp.torch.Task(model=linear, train=[Lazy(own) for own in PARTS], test=Lazy(np.arange(40)), step=step, collate=collate, metric=None)
    run = gp.run(SCENARIO, task=ours)
    assert run.rounds["test_loss"][-1] < np.log(CLASSES) and np.isnan(run.rounds["test_accuracy"]).all()


def test_shared_parameters_count_once_and_double_precision_stays():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(FEATURES, FEATURES, bias=False)
            self.b = nn.Linear(FEATURES, FEATURES, bias=False)
            self.b.weight = self.a.weight
            self.out = nn.Linear(FEATURES, CLASSES)

        def forward(self, x):
            return self.out(self.b(torch.tanh(self.a(x))))

    run = gp.run(SCENARIO, task=task(Tied))
    assert sum(value.size for value in run.model().values()) == FEATURES**2 + FEATURES * CLASSES + CLASSES
    wide = gp.torch.Task(model=lambda: linear().double(), train=(X.astype(np.float64), Y), clients=PARTS, test=None)
    assert gp.run(SCENARIO, task=wide).model()["weight"].dtype == np.float64


def test_seeds_and_variants_of_one_task():
    """Every seed begins with a model of its own, and any number of processes gives the same bits."""
    several = {**SCENARIO, "variant": [{"name": "a"}, {"name": "b", "set": {"server": {"weighting": "fedavg"}}}]}
    mine = task(normed)
    runs = [gp.run(several, task=mine, repeats=2, threads=threads, set={"stop.rounds": 3}) for threads in (1, 2)]
    assert digest(runs[0]) == digest(runs[1]) and len(set(digest(runs[0]))) == 4
    alone = gp.run(several, task=mine, seed=2, set={"stop.rounds": 3})
    assert digest(alone) == digest(runs[0])[1::2]


def test_on_the_wall_clock_clients_take_turns():
    quick = {**SCENARIO, "fleet": {"class": [{"name": "phone", "step_time": "5ms"}]}, "server": {"close": "all"}}
    changes = {"client.work": {"steps": 6}, "stop.rounds": 2}
    wall = gp.run(quick, task=task(normed), set=changes, speedup=1.0)
    virtual = gp.run(quick, task=task(normed), set=changes)
    for name, value in virtual.model().items():
        assert wall.model()[name] == pytest.approx(value, rel=1e-4, abs=1e-5), name


def test_a_run_that_was_interrupted_goes_on_to_the_same_bytes(tmp_path):
    import os
    import signal

    class Stops(gp.Observer):
        def closed(self, round):
            if round.round == 20:
                os.kill(os.getpid(), signal.SIGINT)

    longer = {"stop.rounds": 120}
    whole = gp.run(SCENARIO, task=task(normed), set=longer, out=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        gp.run(SCENARIO, task=task(normed), set=longer, out=tmp_path / "out", observers=[Stops()])
    resumed = gp.run(SCENARIO, task=task(normed), set=longer, out=tmp_path / "out", resume=True, threads=2)
    assert digest(resumed) == digest(whole)
    assert (tmp_path / "out/rounds.csv").read_bytes() == (tmp_path / "whole/rounds.csv").read_bytes()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: gp.torch.Task(model=linear, train=TRAIN), TypeError, "clients= says which samples are whose"),
        (lambda: gp.torch.Task(model=linear, train=TRAIN, clients=[[0], [999]]), ValueError, r"clients\[1\]: expected indices"),
        (lambda: gp.torch.Task(model=linear, train=[3, 4]), TypeError, "expected a dataset"),
        (lambda: task(lambda: linear().requires_grad_(False)), ValueError, "nothing to train"),
        (lambda: gp.torch.Task(model=linear, train=TRAIN, clients=[[0], []]), ValueError, "client 1 has no samples"),
        (lambda: task(lambda: nn.Linear(FEATURES + 1, CLASSES)), RuntimeError, "shapes cannot be multiplied"),
        (lambda: task(loss=lambda output, target: output), ValueError, "expected a tensor with one number"),
    ],
)
def test_what_is_wrong_is_told(make, error, words):
    with pytest.raises((error, gp.ScenarioError), match=words):
        gp.run(SCENARIO, task=make())
