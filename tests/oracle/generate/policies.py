"""What clients and the server do in random scenarios."""

from .draws import milliseconds, table

CLOSES = ["all", "deadline", "deadline", "adaptive", "first", "first", "buffer", "each", "window"]
VARIANCE_REDUCTION = ["none"] * 5 + ["fednova", "fednova-as-printed", "scaffold", "vrlsgd"]

# `work` as it is written; one number per client is filled in.
WORK = {
    "until": '{ until = "deadline" }',
    "until, unsaid": None,
    "steps": "{ steps = 12 }",
    "steps each": "{ steps = EACH }",
    "steps drawn": "{ steps = { uniform = [1, 20] } }",
    "steps drawn every round": '{ steps = { normal = { mean = 9, std = 4 } }, redraw = "round" }',
    "steps drawn once": '{ steps = { lognormal = { median = 8, sigma = 0.6 }, max = 40 }, redraw = "once" }',
    "steps chosen": "{ steps = { choice = [2, 5, 14] } }",
    "epochs": "{ epochs = 1.5 }",
    "epochs each": "{ epochs = EACH }",
    "epochs drawn": "{ epochs = { uniform = [1, 5] } }",
    "epochs drawn once": '{ epochs = { exponential = { mean = 2 }, min = 1, max = 6 }, redraw = "once" }',
    "epochs, last batch counts": '{ epochs = 2, last_batch = "counts" }',
    "epochs, last batch fills up": '{ epochs = { uniform = [1, 3] }, last_batch = "fills-up" }',
}


def work(author):
    """`work`, and whether it goes on until the deadline."""
    draws = author.draws
    # Work until the deadline needs one, so where there is one it comes half of the time.
    until = author.close == "deadline" and draws.chance(0.5)

    def fits(form):
        if form.startswith("until") or until:
            return until and form.startswith("until")
        return not (form.startswith("epochs") and author.kind == "quadratic")

    form = draws.deal("work", list(WORK), fits)
    text = WORK[form]
    if text and "EACH" in text:
        high, digits = (25, 0) if form.startswith("steps") else (4, 2)
        each = ", ".join(draws.number(1, high, digits) for _ in range(author.clients))
        text = text.replace("EACH", f"[{each}]")
    return text, until


def client(author):
    """`[client]`, and whether its schedule needs a number of rounds."""
    draws = author.draws
    batches = [None, '"full"'] if author.kind == "quadratic" else ["5", "10", '"full"', None]
    keys = {"batch": draws.deal(f"batch of {author.kind}", batches), "lr": draws.number(0.01, 0.08)}
    if author.diverges:
        keys["lr"] = "4.0"
    elif not author.plain:
        keys["momentum"] = draws.deal("momentum", [None, None, "0.5", "0.9"])
        keys["prox"] = draws.deal("prox", [None, None, "0.1", "1.0"])
        keys["lr_decay"] = draws.deal("lr_decay", [None, None, "0.99", "0.9"])
    keys["weight_decay"] = draws.deal("weight_decay", [None, None, None, "0.001", "0.1"])
    schedules = [
        None,
        None,
        "[{ after = 3, times = 0.5 }, { after = 6, times = 2.0 }]",
        '[{ after = "50%", times = 0.1 }, { after = "75%", times = 0.5 }]',
    ]
    schedule = draws.deal("lr_schedule", schedules)
    text = table(
        **keys,
        lr_schedule=schedule,
        variance_reduction=f'"{author.variance}"',
        compression=compression(author),
        work=author.work,
    )
    return text, schedule is not None and "%" in schedule


def compression(author):
    forms = [None, None, '"none"', '"fp16"', "{ fp16 = true, error_feedback = true }"]
    for how in ("top_k = 0.1", "top_k = 0.4", "quantize = 2", "quantize = 8"):
        forms += [f"{{ {how} }}", f"{{ {how}, error_feedback = true }}"]

    def fits(form):
        # Variance reduction reads every entry of an update, of this round alone.
        loses = form is not None and ("top_k" in form or "error_feedback" in form)
        return author.variance == "none" or not loses

    return author.draws.deal("compression", forms, fits)


def server(author):
    """`[server]`."""
    draws = author.draws
    scheme, sample = choice(author)
    keys = {"close": close(author, scheme is not None and "tiers" in scheme)}
    if author.one_by_one:
        keys["concurrency"] = draws.whole(2, author.clients) if draws.chance(0.7) else None
    else:
        keys["late"] = draws.deal("late", [None, '"drop"', '"next"', '"stale"'])
    stalenesses = [
        None,
        '"constant"',
        "{ polynomial = 0.5 }",
        "{ polynomial = 1.5 }",
        "{ hinge = { a = 2, b = 1 } }",
    ]
    keys["staleness"] = draws.deal("staleness", stalenesses)
    keys["max_staleness"] = draws.deal("max_staleness", [None, None, "2", "6"])
    if author.close in ("deadline", "adaptive") and not author.until_deadline:
        keys["partial"] = draws.deal("partial", [None, '"keep"', '"discard"', '"discard"'])
    drawn = not author.one_by_one and author.close != "first" and scheme in (None, '"uniform"', '"by-size"')
    participations = [None, '"renormalize"', '"unbiased"', '"inverse-probability"']
    optimizers = [
        None,
        '{ kind = "sgd", lr = 0.7 }',
        '{ kind = "momentum", momentum = 0.5 }',
        '{ kind = "momentum", lr = 0.3 }',
        '{ kind = "adam" }',
        '{ kind = "adam", lr = 0.05, beta1 = 0.5, beta2 = 0.9, epsilon = 0.01 }',
        '{ kind = "yogi" }',
        '{ kind = "adagrad", lr = 0.05 }',
    ]
    return table(
        **keys,
        weighting=draws.deal("weighting", [None, '"fednova"', '"fedavg"', '"uniform"']),
        tau_eff=draws.deal("tau_eff", [None, '"accumulation"', '"steps"', "4.5"]),
        participation=draws.deal("participation", participations, lambda kind: drawn or kind != '"unbiased"'),
        optimizer=None if author.diverges else draws.deal("optimizer", optimizers),
        sample=sample,
        scheme=scheme,
        evaluate_every=draws.deal("evaluate_every", [None, None, "2", "5"]),
    )


def close(author, tiers):
    draws = author.draws
    # Where devices follow the hours of a day, more clients than that may never be available at once.
    of = 3 if author.fleet.daily else draws.whole(author.clients // 2, author.clients - 1)
    if tiers:
        of = min(of, author.clients // 2)
    percentile = draws.one_of([40, 60, 80])
    return {
        "all": '"all"',
        "deadline": f'{{ deadline = "{milliseconds(author.round)}" }}',
        "adaptive": f"{{ deadline = {{ percentile = {percentile}, of = {draws.whole(1, 6)} }} }}",
        "first": f"{{ first = {draws.whole(2, of - 1)}, of = {of} }}",
        "buffer": f"{{ buffer = {draws.whole(2, 5)} }}",
        "each": '"each"',
        "window": f'{{ window = "{milliseconds(author.round // 3 + 1)}" }}',
    }[author.close]


def choice(author):
    """`scheme` and `sample`: how clients are chosen, and how many."""
    draws = author.draws
    schemes = [
        None,
        '"uniform"',
        '"by-size"',
        '"round-robin"',
        '"oort"',
        "{ oort = { exploration = 0.5, decay = 0.9, least = 0.1, alpha = 1 } }",
        f'{{ oort = {{ round_time = "{milliseconds(author.round)}" }} }}',
        '"tiers"',
        "{ tiers = { count = 2 } }",
    ]
    has = lambda scheme, word: scheme is not None and word in scheme

    def fits(scheme):
        # Every tier must have as many clients as a round asks: five tiers are too small for `of`.
        if scheme == '"tiers"' and (author.close == "first" or author.clients < 10):
            return False
        return not (author.one_by_one and (has(scheme, "oort") or has(scheme, "tiers")))

    scheme = draws.deal("scheme", schemes, fits)
    if author.one_by_one or author.close == "first":
        return scheme, None
    if has(scheme, "tiers"):
        return scheme, "{ clients = 2 }"
    clients = 3 if author.fleet.daily else author.clients // 2
    samples = [None, '"all"', f"{{ clients = {clients} }}", "{ fraction = 0.4 }", "{ fraction = 0.75 }"]

    def has_size(sample):
        if sample in (None, '"all"'):
            return not (has(scheme, "oort") or has(scheme, "by-size"))
        return "clients" in sample or not author.fleet.daily

    return scheme, draws.deal("sample", samples, has_size)
