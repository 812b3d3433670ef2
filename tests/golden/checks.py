"""What must hold exactly before anything is written: the paper's closed forms and identities."""
from fractions import Fraction as F
from itertools import combinations, product

from exact import Case, add, aggregate, corrected_round, local, scale, sub, times


# ---- accumulation vectors (section "A Generalized Update Rule", appendix B)

def closed_form(solver, tau, lr):
    """a_i and |a_i|_1 as the paper prints them, or None for a mix that the paper does not treat."""
    rho, gamma, alpha, ks = solver.momentum, solver.lr_decay, solver.lr * solver.prox, range(tau)
    shape = (rho != 0, solver.prox != 0, gamma != 1)
    if shape == (False, False, False):
        a, l1 = [F(1)] * tau, F(tau)
    elif shape == (False, True, False):
        a, l1 = [(1 - alpha) ** (tau - 1 - k) for k in ks], (1 - (1 - alpha) ** tau) / alpha
    elif shape == (False, False, True):
        a, l1 = [gamma ** k for k in ks], (1 - gamma ** tau) / (1 - gamma)
    elif shape == (True, False, False):
        a = [(1 - rho ** (tau - k)) / (1 - rho) for k in ks]
        l1 = (tau - rho * (1 - rho ** tau) / (1 - rho)) / (1 - rho)
    elif shape == (True, False, True):      # ours: sum over s >= k of gamma^s rho^(s-k)
        a = [gamma ** k * (1 - (rho * gamma) ** (tau - k)) / (1 - rho * gamma) for k in ks]
        l1 = sum(a)
    else:
        return None
    return scale(solver.lr / lr, a), solver.lr / lr * l1


def lemma_one(client, x0, delta):
    """(H + mu) Delta = [1 - (1 - eta mu - eta H)^tau] (e - H x0): appendix A, for SGD and FedProx."""
    law = client.solver
    if law.momentum or law.weight_decay or law.lr_decay != 1:
        return
    start = sub(client.center, times(client.curvature, x0))
    powered = start
    for _ in range(client.tau):
        powered = sub(powered, scale(law.lr, add(scale(law.prox, powered), times(client.curvature, powered))))
    assert add(times(client.curvature, delta), scale(law.prox, delta)) == sub(start, powered)


def solver(name, clients, locals_, x0, lr):
    for client, work in zip(clients, locals_):
        expected = closed_form(client.solver, client.tau, lr)
        assert expected is None or expected == (work["a"], work["l1"]), f"{name}: closed form"
        lemma_one(client, x0, work["delta"])
        assert work["l1"] > 0
    negative = any(entry < 0 for work in locals_ for entry in work["a"])
    assert negative == (name == "proximal-overshoot")


# ---- aggregation

def weights(clients, locals_, x0, case, out):
    """Renormalised weights sum to one; FedAvg with its own tau_eff adds up s_i Delta_i (eqn:fedavg_update)."""
    if case.participation == "renormalize":
        assert sum(out["weight"]) == 1
    if case.weighting == "fedavg" and case.tau_eff == "accumulation":
        whole = sum(out["share"]) if case.participation == "renormalize" else 1
        moves = [scale(s / whole, work["delta"]) for s, work in zip(out["share"], locals_)]
        assert out["x_new"] == add(x0, *moves)
        if all(case.arrived):
            assert out["x_new"] == add(x0, *[scale(c.p, work["delta"]) for c, work in zip(clients, locals_)])


def special_cases(name, clients, locals_, case, lr, out):
    """A, B and C as printed for FedAvg and FedProx (appendix "Special Cases"), chi^2 = 0 for FedNova, and
    B and C as the proof of thm:general meets them: sums over all steps but the last."""
    assert out["B"] == sum(w * sum(ak * ak for ak in n["a"][:-1]) for w, n in zip(out["weight"], locals_))
    assert out["C"] == max(n["l1"] * sum(n["a"][:-1]) for n in locals_)
    if case.weighting == "fednova":
        assert out["chi2"] == 0
    if case.weighting != "fedavg" or case.tau_eff != "accumulation":
        return
    m, p, tau = len(clients), [c.p for c in clients], [c.tau for c in clients]
    if name == "sgd":
        mean = sum(pi * t for pi, t in zip(p, tau))
        variance = sum(pi * t * t for pi, t in zip(p, tau)) - mean ** 2
        assert out["A"] == m * sum(pi ** 2 * t for pi, t in zip(p, tau)) / mean
        assert out["B"] == mean - 1 + variance / mean
        assert out["C"] == max(tau) * (max(tau) - 1)
    if name.startswith("proximal") and "decay" not in name:
        alpha = lr * clients[0].solver.prox
        r = 1 - alpha
        total = sum(pi * (1 - r ** t) for pi, t in zip(p, tau))
        squares = [(1 - r ** (2 * t)) / (1 - r ** 2) for t in tau]
        assert out["tau_eff"] == total / alpha                               # eqn:fedprox_w
        assert out["A"] == m * alpha / total * sum(pi ** 2 * q for pi, q in zip(p, squares))
        assert out["B"] == sum(pi * (1 - r ** t) / total * (q - 1) for pi, t, q in zip(p, tau, squares))
        longest = (1 - r ** max(tau)) / alpha
        # The printed C takes the longest client for the largest |a|_1: untrue once alpha > 1.
        assert (out["C"] == longest * (longest - 1)) == (alpha <= 1)


def equal_a(clients, x0, lr, cases):
    """With the same a everywhere FedAvg is FedNova, whoever arrives."""
    locals_ = [local(c, x0, lr) for c in clients]
    for _, case in cases:
        if case.weighting == "fedavg":
            nova = aggregate(clients, locals_, x0, case._replace(weighting="fednova"))
            assert aggregate(clients, locals_, x0, case) == nova


def draws(clients, scheme, q):
    """(probability, times drawn) of everything that can be drawn."""
    m = range(len(clients))
    if scheme == "uniform":
        subsets = list(combinations(m, q))
        return [(F(1, len(subsets)), tuple(int(i in subset) for i in m)) for subset in subsets]
    result = []
    for drawn in product(m, repeat=q):
        chance = F(1)
        for i in drawn:
            chance *= clients[i].p
        result.append((chance, tuple(drawn.count(i) for i in m)))
    return result


def unbiased(clients, x0, lr):
    """The mean over all draws is full participation: for FedAvg with its own tau_eff, and for the other
    two with a fixed tau_eff. FedNova with the tau_eff of those who arrived is not unbiased."""
    locals_ = [local(c, x0, lr) for c in clients]
    for weighting, tau_eff, exactly in (("fedavg", "accumulation", True), ("fednova", F(5, 2), True),
                                        ("uniform", F(5, 2), True), ("fednova", "accumulation", False)):
        everybody = Case(weighting, tau_eff, "renormalize", "everybody", 4, (1,) * 4, (True,) * 4)
        full = aggregate(clients, locals_, x0, everybody)["x_new"]
        for scheme, q in product(("uniform", "by-size"), (1, 2, 3)):
            mean = scale(0, x0)
            for chance, drawn in draws(clients, scheme, q):
                case = Case(weighting, tau_eff, "unbiased", scheme, q, drawn, tuple(n > 0 for n in drawn))
                mean = add(mean, scale(chance, aggregate(clients, locals_, x0, case)["x_new"]))
            assert (mean == full) == exactly, (weighting, tau_eff, scheme, q)


# ---- variance reduction

def variance_state(method, clients, state):
    """`shared` is the weighted mean of `own`, so that corrections average to nothing; VRL-SGD has none."""
    shared, own = state
    if method == "vrlsgd":
        assert not any(shared)
    else:
        assert shared == add(*[scale(c.p, mine) for c, mine in zip(clients, own)])


def scaffold_is_fednova(files):
    """With plain SGD option II keeps exactly the normalised gradients without the correction."""
    def rounds(name, case):
        return next(c["rounds"] for c in files[name]["cases"] if c["name"] == case)
    for who in ("full", "missing", "unbiased-uniform"):
        assert rounds("scaffold", f"scaffold/fednova/{who}") == rounds("fednova-vr", f"fednova/fednova/{who}")


def vrlsgd_is_fednova(clients, x, lr):
    """With plain SGD, equal steps, everybody and FedAvg, VRL-SGD corrects by what FedNova corrects by."""
    case = Case("fedavg", "accumulation", "renormalize", "everybody", 4, (1,) * 4, (True,) * 4)
    zero = scale(0, x)
    states = {"vrlsgd": (x, (zero, [zero] * 4)), "fednova": (x, (zero, [zero] * 4))}
    for _ in range(3):
        seen = []
        for method, (model, state) in states.items():
            corrections, _, out, after = corrected_round(method, clients, state, model, lr, case)
            states[method] = (out["x_new"], after)
            seen.append((corrections, out))
        assert seen[0] == seen[1]


def as_printed_takes_turns(files):
    """algo:novavrl as printed: c(t+1) = (mean - own normalised stochastic gradient) - c(t), so that the
    corrections of two rounds in a row, not each, add up to what section 'sec:algorithm' asks for."""
    for name in ("fednova-vr", "fednova-vr-momentum", "fednova-vr-mixed"):
        case = next(c for c in files[name]["cases"] if c["name"] == "fednova-as-printed/fednova/full")
        shares = [c["p"] for c in files[name]["clients"]]
        for now, later in zip(case["rounds"], case["rounds"][1:]):
            before, after = now["outputs"]["correction"], later["outputs"]["correction"]
            raw = [sub(d, c) for d, c in zip(now["outputs"]["own"], before)]
            mean = add(*[scale(p, r) for p, r in zip(shares, raw)])
            assert after == [sub(sub(mean, r), c) for r, c in zip(raw, before)]


# ---- server optimisers

def server(rule, before, after, x_old, x_new, change, lr):
    """SlowMo: x moves by lr eta_t times the new buffer. Every second moment stays positive, Adam's a mean."""
    if rule["name"] == "momentum":
        assert sub(x_new, x_old) == scale(rule["lr"] * lr, after["u"])
    assert all(v > 0 for v in after.get("v", []))
    if rule["name"] == "adam":
        squares = [d * d for d in change]
        assert all(new - d == rule["beta2"] * (v - d) for v, new, d in zip(before["v"], after["v"], squares))


def yogi_goes_both_ways(case):
    """The sign in yogi's rule is met with both values."""
    start = [case["inputs"]["server"]["epsilon"] ** 2] * 2
    seconds = [start] + [round_["outputs"]["v"] for round_ in case["rounds"]]
    rises = [later > now for pair in zip(seconds, seconds[1:]) for now, later in zip(*pair)]
    assert any(rises) and not all(rises)


def across(files, clients, equal, x0, lr, cases):
    equal_a(equal, x0, lr, cases)
    unbiased(clients, x0, lr)
    scaffold_is_fednova(files)
    vrlsgd_is_fednova(equal, x0, lr)
    as_printed_takes_turns(files)
