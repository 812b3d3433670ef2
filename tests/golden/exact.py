"""One round of federated optimisation in exact rational arithmetic.

Written from the FedNova paper (Wang et al. 2020) and the project's definitions alone, without a look
at the Rust code that it is meant to check. Paper equations are cited by their LaTeX label.
"""
from decimal import Decimal, localcontext
from fractions import Fraction as F
from typing import NamedTuple


class Solver(NamedTuple):
    lr: F                      # eta_i, the client's own learning rate
    momentum: F = F(0)         # rho
    prox: F = F(0)             # mu
    lr_decay: F = F(1)         # gamma, per step
    weight_decay: F = F(0)     # lambda


class Client(NamedTuple):
    p: F                       # share of all data
    tau: int                   # local steps
    solver: Solver
    curvature: list            # H_i
    center: list               # e_i: the gradient is H_i x - e_i


class Case(NamedTuple):
    weighting: str             # fedavg | fednova | uniform
    tau_eff: object            # "accumulation" | "steps" | a number
    participation: str         # renormalize | unbiased
    scheme: str                # everybody | uniform | by-size
    asked: int                 # q
    times_drawn: tuple
    arrived: tuple


# ---- vectors

def add(*vectors):
    return [sum(entries) for entries in zip(*vectors)]


def scale(factor, vector):
    return [factor * entry for entry in vector]


def sub(left, right):
    return add(left, scale(-1, right))


def times(matrix, vector):
    return [sum(h * x for h, x in zip(row, vector)) for row in matrix]


# ---- the client

def train(client, x0, correction):
    """Runs the local law; returns the change and every G~_k = g(x_k) + lambda x_k + c."""
    law, x, buffer, gradients = client.solver, x0, scale(0, x0), []
    for k in range(client.tau):
        gradient = sub(times(client.curvature, x), client.center)
        gradients.append(add(gradient, scale(law.weight_decay, x), correction))
        pulled = add(gradients[-1], scale(law.prox, sub(x, x0)))
        buffer = add(scale(law.momentum, buffer), pulled)
        x = sub(x, scale(law.lr * law.lr_decay ** k, buffer))
    return sub(x, x0), gradients


def accumulation(solver, tau, lr):
    """a_k: minus where a unit gradient at step k alone leaves x - x0 after tau steps, over eta."""
    def impulse(at):
        z = u = F(0)
        for k in range(tau):
            u = solver.momentum * u + (k == at) + solver.prox * z
            z -= solver.lr * solver.lr_decay ** k * u
        return -z / lr
    return [impulse(k) for k in range(tau)]


def local(client, x0, lr, correction=None):
    """Everything about one client's round that no weighting changes (appendix B)."""
    correction = correction or scale(0, x0)
    delta, gradients = train(client, x0, correction)
    a = accumulation(client.solver, client.tau, lr)
    assert delta == scale(-lr, add(*[scale(ak, g) for ak, g in zip(a, gradients)])), "Delta = -eta G a"
    return {"a": a, "l1": sum(a), "l2_squared": sum(ak * ak for ak in a), "last": a[-1], "delta": delta}


# ---- the server

def shares(clients, case):
    """s_i, what stands for p_i among the clients that arrived; 0 for the others."""
    m = len(clients)

    def share(client, drawn):
        target = F(1, m) if case.weighting == "uniform" else client.p
        if case.scheme == "by-size":
            estimate = drawn * target / client.p
            return estimate / case.asked if case.participation == "unbiased" else estimate
        return target * m / case.asked if case.participation == "unbiased" else target
    return [share(c, n) if here else F(0) for c, n, here in zip(clients, case.times_drawn, case.arrived)]


def means(clients, l1, s, case, heard):
    """Mean |a|_1 and mean tau. Renormalised: over those who arrived. Unbiased: over everyone heard so far,
    each as it last was, so that tau_eff does not depend on the draw; `heard` is that memory."""
    if case.participation != "unbiased":
        rows = [(si, n, c.tau) for si, n, c in zip(s, l1, clients)]
    else:
        heard.update({i: (l1[i], c.tau) for i, c in enumerate(clients) if case.arrived[i]})
        equal = F(1, len(clients))
        rows = [(equal if case.weighting == "uniform" else clients[i].p, *last) for i, last in heard.items()]
    whole = sum(row[0] for row in rows)
    return sum(row[0] * row[1] for row in rows) / whole, sum(row[0] * row[2] for row in rows) / whole


def aggregate(clients, locals_, x0, case, heard=None):
    """The general update rule (eqn:new_update): x0 + tau_eff sum w_i Delta_i / |a_i|_1."""
    s, l1 = shares(clients, case), [work["l1"] for work in locals_]
    whole = F(1) if case.participation == "unbiased" else sum(s)
    mean, steps = means(clients, l1, s, case, {} if heard is None else heard)
    tau_eff = {"accumulation": mean, "steps": steps}.get(case.tau_eff, case.tau_eff)
    if case.weighting == "fedavg":
        weight = [si * n / (mean * whole) for si, n in zip(s, l1)]           # eqn:new_form1
    else:
        weight = [si / whole for si in s]                                    # eqn:nova_updates
    moves = [scale(tau_eff * w / n, work["delta"]) for w, n, work in zip(weight, l1, locals_)]
    return {"share": s, "weight": weight, "tau_eff": tau_eff, "x_new": add(x0, *moves)}


def theory(clients, locals_, weight, tau_eff):
    """chi^2 of thm:bias; A, B and C of thm:general. Full participation only."""
    rows = list(zip(clients, locals_, weight))
    return {
        "chi2": sum((c.p - w) ** 2 / w for c, _, w in rows),
        "A": len(rows) * tau_eff * sum(w * w * n["l2_squared"] / n["l1"] ** 2 for _, n, w in rows),
        "B": sum(w * (n["l2_squared"] - n["last"] ** 2) for _, n, w in rows),
        "C": max(n["l1"] ** 2 - n["l1"] * n["last"] for n in locals_),
    }


# ---- cross-client variance reduction

def corrected_round(method, clients, state, x, lr, case, heard=None):
    """One round under `method`: dispatch with c_i = shared - own_i, aggregate, then renew the state.

    Every client trains; only those that arrived are aggregated and renew their state.
    """
    shared, own = state
    corrections = [sub(shared, mine) for mine in own]
    locals_ = [local(c, x, lr, corr) for c, corr in zip(clients, corrections)]
    out = aggregate(clients, locals_, x, case, heard)
    present = [i for i in range(len(clients)) if case.arrived[i]]
    average = scale(1 / sum(clients[i].p for i in present),
                    add(*[scale(clients[i].p, locals_[i]["delta"]) for i in present]))
    new_shared, new_own = shared, list(own)
    for i, (client, work, corr) in enumerate(zip(clients, locals_, corrections)):
        if not case.arrived[i]:
            continue
        if method == "vrlsgd":
            drift = sub(average, work["delta"])                              # x^ - x_i
            new_own[i] = add(own[i], scale(1 / (client.tau * lr), drift))
            continue
        if method == "scaffold":                                             # option II
            new_own[i] = add(own[i], scale(-1, shared), scale(-1 / (client.tau * lr), work["delta"]))
        else:
            normalised = scale(-1 / (lr * work["l1"]), work["delta"])        # algo:novavrl
            new_own[i] = normalised if method == "fednova-as-printed" else sub(normalised, corr)
        new_shared = add(new_shared, scale(client.p, sub(new_own[i], own[i])))
    return corrections, locals_, out, (new_shared, new_own)


# ---- server optimisers, fed with the change that the aggregation proposes

def root(value):
    """Square root to 50 significant digits: the one place where exactness is lost."""
    with localcontext() as context:
        context.prec = 50
        return F((Decimal(value.numerator) / Decimal(value.denominator)).sqrt())


def second_moment(name, v, square, beta2):
    if name == "adagrad":
        return v + square
    if name == "adam":
        return beta2 * v + (1 - beta2) * square
    return v - (1 - beta2) * square * ((v > square) - (v < square))          # yogi


def server_step(rule, buffers, x, change, lr):
    """Returns the new model and the new buffers; `lr` is the clients' rate of this round."""
    if rule["name"] == "sgd":
        return add(x, scale(rule["lr"], change)), buffers
    if rule["name"] == "momentum":                                           # SlowMo
        step = add(change, scale(lr * rule["beta"], buffers["u"]))
        u = add(scale(rule["beta"], buffers["u"]), scale(1 / lr, change))
        return add(x, scale(rule["lr"], step)), {"u": u}
    first = add(scale(rule["beta1"], buffers["m"]), scale(1 - rule["beta1"], change))
    second = [second_moment(rule["name"], v, d * d, rule.get("beta2")) for v, d in zip(buffers["v"], change)]
    step = [rule["lr"] * m / (root(v) + rule["epsilon"]) for m, v in zip(first, second)]
    return add(x, step), {"m": first, "v": second}
