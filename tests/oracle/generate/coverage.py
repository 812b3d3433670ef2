"""What the random scenarios must have among them, so that no form of the language is left out by chance."""

import re

# Further lines of the same table.
SAME = r"(?:[^\[\n].*\n)*"
DISTS = ["uniform", "normal", "lognormal", "pareto", "exponential", "choice"]
EFFECTS = ["slow", "offline", "leave", "join", "network", "deadline", "lr"]


def each(pattern, values):
    """The pattern with each of the values in the place of VALUE."""
    return [pattern.replace("VALUE", value) for value in values]


# Each is a pattern that the text of at least one scenario has.
FORMS = {
    "task": each('kind = "VALUE"', ["quadratic", "synthetic", "table"]),
    "partition": ['scheme = "natural"', 'scheme = "iid"', "dirichlet = ", "shards = "],
    "quadratic": [
        r"curvature = \[\[\d",
        r"curvature = \[\[\[",
        r"weights = \[",
        r"centers = \[\[",
        "gradient_noise = ",
    ],
    "init": ['init = "zeros"', r"init = \{ normal"],
    "stop": [
        r"(?m)^\[stop\]\nrounds = .*\n\[",
        r"(?m)^\[stop\]\ntime = .*\n\[",
        *each('target = .*"VALUE"', ["distance", "train_loss", "test_accuracy"]),
        r"divergence = \d",
        'divergence = "off"',
    ],
    "work": [
        'until = "deadline"',
        *each(r"VALUE = \d", ["steps", "epochs"]),
        *each(r"VALUE = \[", ["steps", "epochs"]),
        *each(r"VALUE = \{ (?!.*redraw)", ["steps", "epochs"]),
        *each(r'VALUE = \{.*redraw = "once"', ["steps", "epochs"]),
        r'steps = \{.*redraw = "round"',
        *each('last_batch = "VALUE"', ["counts", "fills-up"]),
    ],
    "solver": each(
        rf"(?m)^\[client\]\n{SAME}VALUE = ",
        ["momentum", "prox", "lr_decay", "weight_decay", "lr_schedule", 'batch = "full"\\n.*'],
    ),
    "solver of a class": each(
        rf"(?m)^\[\[fleet.class\]\]\n{SAME}VALUE = ",
        ["lr", "momentum", "prox", "lr_decay", "weight_decay"],
    ),
    "lr_schedule": [r"after = \d", r'after = "\d+%"'],
    "variance_reduction": each(
        'variance_reduction = "VALUE"', ["fednova", "fednova-as-printed", "scaffold", "vrlsgd"]
    ),
    "compression": [
        'compression = "fp16"',
        *each(r"VALUE, error_feedback = true", ["fp16 = true", r"top_k = [\d.]+", r"quantize = \d+"]),
        *each(r"VALUE \}", [r"top_k = [\d.]+", r"quantize = \d+"]),
    ],
    "close": [
        *each('close = "VALUE"', ["all", "each"]),
        *each(r"close = \{ VALUE = ", ["first", "buffer", "window"]),
        r'close = \{ deadline = "',
        r"close = \{ deadline = \{ percentile",
    ],
    "late": each(rf'close = \{{ (?:deadline|first).*\n{SAME}late = "VALUE"', ["drop", "next", "stale"]),
    "staleness": ['staleness = "constant"', "polynomial = ", "hinge = ", "max_staleness = ", "concurrency = "],
    "partial": each('partial = "VALUE"', ["keep", "discard"]),
    "weighting": each('(?m)^weighting = "VALUE"', ["fednova", "fedavg", "uniform"]),
    "tau_eff": [*each('tau_eff = "VALUE"', ["accumulation", "steps"]), r"tau_eff = \d"],
    "participation": each('participation = "VALUE"', ["renormalize", "unbiased", "inverse-probability"]),
    "optimizer": each(r'optimizer = \{ kind = "VALUE"', ["sgd", "momentum", "adam", "yogi", "adagrad"]),
    "sample": ['sample = "all"', r"sample = \{ clients", r"sample = \{ fraction"],
    "scheme": [
        *each('(?m)^scheme = "VALUE"', ["uniform", "by-size", "round-robin", "oort", "tiers"]),
        r"scheme = \{ oort = \{ exploration",
        r"scheme = \{ oort = \{ round_time",
        r"scheme = \{ tiers",
    ],
    "evaluate_every": [r"evaluate_every = \d"],
    "fleet": each("(?m)^VALUE = ", ["assign", "share", "server_uplink", "server_downlink"]),
    "compute": [*each(r"step_time = \{ VALUE", DISTS), 'step_time = "', 'speed = "', r"speed = \{"],
    "device": each(
        "(?m)^VALUE = ",
        ["jitter", "dropout", "latency", "uplink", "downlink", "slowdown", "thermal"],
    ),
    "availability": ['availability = "always"', *each(r"availability = \{ VALUE", ["on", "trace"])],
    "trace": [
        *each("(?m)^trace = .*traces/VALUE", ["six", "phones", "capacity", "campus", "outage", "rack"]),
        '(?m)^trace = "',
        *each("(?m)^trace = .*VALUE", ["repeat = true", 'repeat = "', 'shift = "random"', 'devices = "']),
    ],
    "event at a time": each(rf"(?m)^\[\[event\]\]\nat = .*\n{SAME}VALUE = ", EFFECTS),
    "event with a round": each(rf"(?m)^\[\[event\]\]\nround = .*\n{SAME}VALUE = ", EFFECTS),
    "event": [r"network = \{ up", r"(?m)^network = \d", r"lr = \{ times", "lasting = "],
    "select": [
        'select = "all"',
        r"select = \{ class = \S+ \}",
        r"select = \{ class = \S+, fraction",
        r"select = \{ clients = .*\] \}",
        r"select = \{ clients = .*\], fraction",
        r"select = \{ fraction",
    ],
    "variant": [r"set = \{ event = \[\]", r"set = \{ fleet.class", "repeats = ", 'name = "v2"'],
    "record": [r"(?m)^clients = \{ clients", '(?m)^clients = "off"', 'timeline = "all"', 'timeline = "off"'],
    "expect": [r"(?m)^\[\[expect\]\]"],
}


# What the scenarios of the oracle must have among them, by the same names.
PREDICTED = {
    "close": FORMS["close"],
    "late": FORMS["late"],
    "staleness": FORMS["staleness"],
    "partial": FORMS["partial"],
    "weighting": FORMS["weighting"],
    "tau_eff": FORMS["tau_eff"],
    "participation": FORMS["participation"],
    "optimizer": FORMS["optimizer"],
    "sample": FORMS["sample"],
    "scheme": each('(?m)^scheme = "VALUE"', ["uniform", "by-size", "round-robin", "oort"]),
    "lr_schedule": FORMS["lr_schedule"],
    "variance_reduction": FORMS["variance_reduction"],
    "compression": ['compression = "fp16"', "fp16 = true, error", r"top_k = [\d.]+ \}", r"top_k = [\d.]+, error"],
    "work": ['until = "deadline"', r"steps = \d", r"steps = \["],
    "solver": each(rf"(?m)^\[client\]\n{SAME}VALUE = ", ["momentum", "prox", "lr_decay", "weight_decay"]),
    "solver of a class": FORMS["solver of a class"],
    "device": each("(?m)^VALUE = ", ["latency", "uplink", "downlink", "thermal", "trace", "speed"]),
    "links": each("(?m)^VALUE = ", ["server_uplink", "server_downlink"]),
    "event at a time": FORMS["event at a time"],
    "event with a round": each(rf"(?m)^\[\[event\]\]\nround = .*\n{SAME}VALUE = ", ["slow", "network", "lr"]),
}


def missing(texts, forms=None):
    """The forms that no scenario has."""
    everything = "\n".join(texts)
    wanted = [(name, form) for name, forms in (forms or FORMS).items() for form in forms]
    return [f"{name}: {form}" for name, form in wanted if not re.search(form, everything)]
