#!/usr/bin/env python3
"""Writes the golden vectors: whole aggregations worked out in exact rational arithmetic.

    python3 tests/golden/make.py            rewrite every JSON file next to this script
    python3 tests/golden/make.py --check    exit 1 and name the files that differ from what it would write

Standard library only, Python 3.9 or later. README.md says what the fields mean.
"""
import json
import sys
from fractions import Fraction as F
from pathlib import Path

sys.dont_write_bytecode = True
import checks  # noqa: E402
from exact import (Case, Client, Solver, aggregate, corrected_round, local, scale, server_step,  # noqa: E402
                   theory)

HERE = Path(__file__).resolve().parent
LR = F(1, 16)
SHARES = [F(1, 2), F(1, 4), F(1, 8), F(1, 8)]
STEPS = [3, 1, 5, 2]

# ---- inputs: dyadic rationals all of them, so that the doubles in the files are exact

PLANE = {
    "x0": [F(1, 2), F(-1, 4)],
    "curvature": [[[1, F(1, 4)], [F(1, 4), F(1, 2)]], [[2, 0], [0, 1]],
                  [[F(1, 2), F(-1, 8)], [F(-1, 8), F(3, 2)]], [[F(1, 4), 0], [0, 1]]],
    "center": [[1, -1], [F(1, 2), 2], [F(-3, 2), F(3, 4)], [2, F(1, 4)]],
}
SPACE = {
    "x0": [F(1, 4), F(-1, 2), 1],
    "curvature": [[[1, F(1, 4), 0], [F(1, 4), F(1, 2), F(1, 8)], [0, F(1, 8), 2]],
                  [[2, 0, 0], [0, 1, 0], [0, 0, F(1, 2)]],
                  [[F(3, 2), F(-1, 2), F(1, 4)], [F(-1, 2), 1, 0], [F(1, 4), 0, F(3, 4)]],
                  [[F(1, 2), 0, F(-1, 8)], [0, F(5, 4), 0], [F(-1, 8), 0, 1]]],
    "center": [[1, -1, F(1, 2)], [F(1, 2), 2, -1], [F(-3, 2), F(3, 4), 1], [2, F(1, 4), F(-1, 4)]],
}
M, P, D, W = ({"momentum": F(1, 2)}, {"prox": F(2)}, {"lr_decay": F(3, 4)}, {"weight_decay": F(1, 8)})
SOLVERS = {
    "sgd": [Solver(LR)] * 4,
    "momentum": [Solver(LR, momentum=F(7, 8))] * 4,
    "proximal": [Solver(LR, **P)] * 4,
    "decay": [Solver(LR, **D)] * 4,
    "weight-decay": [Solver(LR, **W)] * 4,
    "momentum-proximal": [Solver(LR, **M, **P)] * 4,
    "momentum-decay": [Solver(LR, **M, **D)] * 4,
    "proximal-decay": [Solver(LR, **P, **D)] * 4,
    "all": [Solver(LR, **M, **P, **D, **W)] * 4,
    # eta mu = 3/2: a has negative entries, so that the signed sum is not the sum of magnitudes
    "proximal-overshoot": [Solver(LR, prox=F(24))] * 4,
}
MIXED = [Solver(F(1, 32), **M), Solver(F(1, 8), **W), Solver(F(3, 64), **P, **D), Solver(F(1, 4), **M, **P)]
ALL, ONCE = (True,) * 4, (1, 1, 1, 1)
PARTICIPATIONS = {
    "full": ("renormalize", "everybody", 4, ONCE, ALL),
    "missing": ("renormalize", "everybody", 4, ONCE, (True, True, False, True)),
    "unbiased-uniform": ("unbiased", "uniform", 3, (1, 0, 1, 1), (True, False, True, True)),
    "unbiased-uniform-missing": ("unbiased", "uniform", 3, (1, 0, 1, 1), (True, False, True, False)),
    "by-size": ("renormalize", "by-size", 4, (1, 0, 2, 1), (True, False, True, True)),
    "unbiased-by-size": ("unbiased", "by-size", 4, (1, 0, 2, 1), (True, False, True, True)),
    "unbiased-by-size-missing": ("unbiased", "by-size", 4, (1, 0, 2, 1), (False, False, True, True)),
}


def make_clients(problem, solvers, steps=STEPS):
    return [Client(*row) for row in zip(SHARES, steps, solvers, problem["curvature"], problem["center"])]


def all_cases():
    """(name, case) for every weighting, tau_eff and participation."""
    for weighting in ("fedavg", "fednova", "uniform"):
        for tau_eff in ("accumulation", "steps", F(5, 2)):
            for who, how in PARTICIPATIONS.items():
                label = tau_eff if isinstance(tau_eff, str) else "fixed"
                yield f"{weighting}/{label}/{who}", Case(weighting, tau_eff, *how)


# ---- what goes into the files

def describe(client):
    return {**client._asdict(), "solver": client.solver._asdict()}


def describe_case(case):
    sampling = {"scheme": case.scheme, "clients": 4, "asked": case.asked}
    return {"weighting": case.weighting, "tau_eff": case.tau_eff, "participation": case.participation,
            "sampling": sampling}


def describe_arrivals(case):
    return {"times_drawn": case.times_drawn, "arrived": case.arrived}


def solver_file(name, problem, solvers):
    """One round under every weighting, tau_eff and participation."""
    clients, x0 = make_clients(problem, solvers), problem["x0"]
    locals_, cases = [local(c, x0, LR) for c in clients], []
    checks.solver(name, clients, locals_, x0, LR)
    for label, case in all_cases():
        out = aggregate(clients, locals_, x0, case)
        checks.weights(clients, locals_, x0, case, out)
        if case.scheme == "everybody" and all(case.arrived):
            out.update(theory(clients, locals_, out["weight"], out["tau_eff"]))
            checks.special_cases(name, clients, locals_, case, LR, out)
        cases.append({"name": label, "inputs": {**describe_case(case), **describe_arrivals(case)}, "outputs": out})
    return {"solver": name, "lr": LR, "x0": x0, "clients": [describe(c) for c in clients],
            "local": locals_, "cases": cases}


def three_rounds(who):
    """Who is there in each of three rounds, for one kind of participation."""
    others = {"full": [ALL] * 3,
              "missing": [(True, True, False, True), (False, True, True, True), (True, True, False, True)],
              "unbiased-uniform": [(True, False, True, True), (True, True, True, False), (False, True, True, True)]}
    how, scheme, asked, _, _ = PARTICIPATIONS[who]
    for arrived in others[who]:
        drawn = ONCE if scheme == "everybody" else tuple(int(here) for here in arrived)
        yield how, scheme, asked, drawn, arrived


def variance_case(method, weighting, who, solvers):
    """Three rounds with the state after each; in the last round everybody takes other steps."""
    x, rounds = SPACE["x0"], []
    state, heard = (scale(0, x), [scale(0, x)] * 4), {}
    for how, steps in zip(three_rounds(who), (STEPS, STEPS, [2, 4, 1, 3])):
        case, clients = Case(weighting, "accumulation", *how), make_clients(SPACE, solvers, steps)
        corrections, locals_, out, state = corrected_round(method, clients, state, x, LR, case, heard)
        x = out["x_new"]
        checks.variance_state(method, clients, state)
        rounds.append({"inputs": {"tau": steps, **describe_arrivals(case)},
                       "outputs": {"correction": corrections, "l1": [n["l1"] for n in locals_],
                                   "delta": [n["delta"] for n in locals_], **out,
                                   "shared": state[0], "own": state[1]}})
    return {"name": f"{method}/{weighting}/{who}", "inputs": {"method": method, **describe_case(case)},
            "rounds": rounds}


def variance_file(name, methods, weightings, solvers):
    """Cross-client variance reduction over three rounds."""
    cases = [variance_case(method, weighting, who, solvers) for method in methods for weighting in weightings
             for who in ("full", "missing", "unbiased-uniform")]
    clients = [describe(c) for c in make_clients(SPACE, solvers)]
    return {"solver": name, "lr": LR, "x0": SPACE["x0"], "clients": clients, "cases": cases}


def server_case(rule):
    """Three rounds of FedNova with the clients' learning rate halved after each."""
    x, rounds, zero = PLANE["x0"], [], scale(0, PLANE["x0"])
    buffers = {"sgd": {}, "momentum": {"u": zero}}.get(
        rule["name"], {"m": zero, "v": [rule.get("epsilon", F(0)) ** 2] * 2})
    case = Case("fednova", "accumulation", *PARTICIPATIONS["full"])
    for lr in (F(1, 8), F(1, 16), F(1, 32)):
        clients = make_clients(PLANE, [Solver(lr)] * 4)
        proposal = aggregate(clients, [local(c, x, lr) for c in clients], x, case)["x_new"]
        change, before, old = [after - now for after, now in zip(proposal, x)], buffers, x
        x, buffers = server_step(rule, buffers, x, change, lr)
        checks.server(rule, before, buffers, old, x, change, lr)
        rounds.append({"inputs": {"lr": lr}, "outputs": {"change": change, **buffers, "x_new": x}})
    return {"name": rule["name"], "inputs": {"server": rule, **describe_case(case), **describe_arrivals(case)},
            "rounds": rounds}


def server_file():
    adaptive = {"lr": F(1, 16), "beta1": F(3, 4), "epsilon": F(1, 64)}
    rules = [{"name": "sgd", "lr": F(3, 4)}, {"name": "momentum", "lr": F(3, 4), "beta": F(1, 2)},
             {"name": "adagrad", **adaptive}, {"name": "adam", **adaptive, "beta2": F(7, 8)},
             {"name": "yogi", **adaptive, "beta2": F(1, 4)}]
    cases = [server_case(rule) for rule in rules]
    checks.yogi_goes_both_ways(cases[-1])
    clients = [describe(c) for c in make_clients(PLANE, [Solver(F(1, 8))] * 4)]
    return {"solver": "server", "lr": F(1, 8), "x0": PLANE["x0"], "clients": clients, "cases": cases}


def contents():
    """File name -> what it holds."""
    files = {name: solver_file(name, PLANE, solvers) for name, solvers in SOLVERS.items()}
    files["mixed"] = solver_file("mixed", SPACE, MIXED)
    sgd, momentum = SOLVERS["sgd"], SOLVERS["momentum"]
    nova = ("fednova", "fednova-as-printed")
    files["fednova-vr"] = variance_file("fednova-vr", nova, ("fednova",), sgd)
    files["fednova-vr-momentum"] = variance_file("fednova-vr-momentum", nova, ("fednova",), momentum)
    files["fednova-vr-mixed"] = variance_file("fednova-vr-mixed", nova, ("fednova",), MIXED)
    files["scaffold"] = variance_file("scaffold", ("scaffold",), ("fedavg", "fednova"), sgd)
    files["vrlsgd"] = variance_file("vrlsgd", ("vrlsgd",), ("fedavg", "fednova"), sgd)
    files["server"] = server_file()
    checks.across(files, make_clients(PLANE, sgd), make_clients(PLANE, sgd, [3] * 4), PLANE["x0"], LR, all_cases())
    return files


# ---- writing

def plain(value, must_be_exact=False):
    """Fractions to the nearest double; of an input the nearest double has to be the number itself."""
    if isinstance(value, dict):
        inputs = ("lr", "x0", "clients", "inputs")
        return {key: plain(entry, must_be_exact or key in inputs) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry, must_be_exact) for entry in value]
    if isinstance(value, F):
        assert not must_be_exact or F(float(value)) == value, f"{value} is not a double"
        return float(value)
    return value


def text(value, indent=""):
    """JSON with one line for every client, for every case's inputs and for its outputs."""
    deeper = indent + " "
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n" + ",\n".join(deeper + text(entry, deeper) for entry in value) + "\n" + indent + "]"
    if isinstance(value, dict) and ("cases" in value or "inputs" in value):
        lines = [f'{deeper}"{key}": {text(entry, deeper)}' for key, entry in value.items()]
        return "{\n" + ",\n".join(lines) + "\n" + indent + "}"
    return json.dumps(value)


def numbers(value):
    """Curvatures and the like are written with whole numbers above: doubles, all of them."""
    return [numbers(v) for v in value] if isinstance(value, list) else F(value)


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__)
    if not __debug__:
        sys.exit("run it without -O: the checks are assertions")
    for problem in (PLANE, SPACE):
        problem.update({key: numbers(value) for key, value in problem.items()})
    files, stale = contents(), []
    for name, content in files.items():
        path, wanted = HERE / f"{name}.json", text(plain(content)) + "\n"
        if not arguments:
            path.write_bytes(wanted.encode())
        elif not path.exists() or path.read_bytes() != wanted.encode():
            stale.append(path.name)
    strangers = {path.name for path in HERE.glob("*.json")} - {f"{name}.json" for name in files}
    stale += [f"{name} (not written by this script)" for name in strangers]
    if stale:
        sys.exit("differ from what make.py writes: " + ", ".join(sorted(stale)))


if __name__ == "__main__":
    main(sys.argv[1:])
