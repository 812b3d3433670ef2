"""The devices of random scenarios, and what happens to them."""

from .draws import milliseconds, table

# The shipped traces: the usual time of a step in milliseconds, for batches of 10 where the trace has
# the time of a sample; whether the trace has the column `available`; how some device names begin.
TRACES = {
    "six-phones.csv": (200, True, "budget"),
    "phones.csv.gz": (50, True, "midrange"),
    "capacity.csv.gz": (1500, False, "new"),
    "campus-wifi.csv.gz": (40, False, "dorm"),
    "outage.csv.gz": (60, False, "north"),
    "rack.csv.gz": (8, False, "old"),
}
BATCH = 10


class Fleet:
    """What `[fleet]` says: none, or one to three classes, the first of which may replay a trace."""

    def __init__(self, author):
        self.author, self.draws = author, author.draws
        draws = self.draws
        self.trace = draws.deal("trace", [None] * 7 + list(TRACES))
        # Recordings change over hours: latencies of minutes make rounds long without more to compute.
        self.long = self.trace is not None and draws.chance(0.5)
        self.pace = TRACES[self.trace][0] if self.trace else draws.deal("pace", [15, 90, 400])
        self.delay = draws.whole(160_000, 300_000) if self.long else 0
        count = draws.deal("classes", [0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3])
        if count == 0 and (self.trace or author.until_deadline):
            count = 2
        if count == 0:
            # Without a [fleet] a step takes 1 ms.
            self.pace = 1
        self.names = [f"class-{letter}" for letter in "abc"[:count]]
        self.classes = [self.device(number) for number in range(count)]
        self.links = self.server_links()
        # Whether devices are available by the hours of a day, so that the server may wait for hours.
        given = [keys.get("availability") for keys in self.classes]
        by_trace = self.trace is not None and TRACES[self.trace][1] and given[0] is None
        self.daily = by_trace or any(text and "trace" in text for text in given)

    def text(self):
        if not self.names:
            return ""
        shares = {1: [None], 2: ["0.4", "0.6"], 3: ["0.3", "0.3", "0.4"]}[len(self.names)]
        if self.draws.chance(0.25):
            shares = [None] * len(self.names)
        assign = self.draws.deal("assign", [None, '"random"', '"in-order"'])
        text = "[fleet]\n" + table(assign=assign, **self.links)
        for name, share, keys in zip(self.names, shares, self.classes):
            text += "[[fleet.class]]\n" + table(name=f'"{name}"', share=share, **keys)
        return text

    def rate(self, steps, bits=None):
        """The rate at which the model is transferred in the time of so many steps, in bits per second."""
        bits = bits or 32 * self.author.size
        return max(1, round(bits * 1000 / (self.pace * steps)))

    def server_links(self):
        form = self.draws.deal("links", ["none", "none", "out", "in", "both"])
        bits = 32 * self.author.size * self.author.clients
        limit = lambda: f'"{self.rate(self.draws.whole(2, 6), bits)}bps"'
        return {
            "server_uplink": limit() if form in ("out", "both") else None,
            "server_downlink": limit() if form in ("in", "both") else None,
        }

    def device(self, number):
        draws = self.draws
        recorded = self.trace is not None and number == 0
        keys = self.recording() if recorded else self.compute()
        if not recorded:
            for key in ("uplink", "downlink"):
                keys[key] = self.link(key)
        keys["latency"] = self.latency()
        for key, forms in self.habits():
            keys[key] = draws.deal(key, forms)
        if not (recorded and TRACES[self.trace][1]) or draws.chance(0.3):
            keys["availability"] = self.availability()
        return {**keys, **self.law()}

    def recording(self):
        """`trace`, by its file alone or with how it is replayed."""
        draws, file = self.draws, f'"traces/{self.trace}"'
        form = draws.deal("replay", ["file", "whole", "some", "often"])
        if form == "file":
            return {"trace": file}
        shift = draws.deal("shift", ['"none"', '"random"', '"random"'])
        assign = draws.deal("recordings", ['"in-order"', '"random"'])
        more = {
            "whole": "repeat = true",
            "some": f'repeat = true, devices = "{TRACES[self.trace][2]}"',
            "often": f'repeat = "{self.draws.whole(20, 90)}m"',
        }[form]
        return {"trace": f"{{ file = {file}, {more}, shift = {shift}, assign = {assign} }}"}

    def compute(self):
        """`step_time` in every distribution, or `speed`."""
        draws, pace = self.draws, self.pace
        of = lambda times: milliseconds(max(1, round(pace * times)))
        step_times = [
            f'"{of(1)}"',
            f'{{ uniform = ["{of(0.5)}", "{of(2)}"] }}',
            f'{{ normal = {{ mean = "{of(1)}", std = "{of(0.4)}" }}, min = "{of(0.2)}" }}',
            f'{{ lognormal = {{ median = "{of(1)}", sigma = 0.6 }} }}',
            f'{{ pareto = {{ scale = "{of(0.6)}", shape = 2.5 }}, max = "{of(9)}" }}',
            f'{{ exponential = {{ mean = "{of(1)}" }}, plus = "{of(0.2)}" }}',
            f'{{ choice = ["{of(0.3)}", "{of(1)}", "{of(4)}"] }}',
        ]
        form = draws.deal("compute", [*range(len(step_times)), "speed", "speeds"])
        if isinstance(form, int):
            return {"step_time": step_times[form]}
        # A softmax step is 4 operations for each weight and sample, a quadratic's about 2 for each entry.
        author = self.author
        work = 2 * author.size if author.kind == "quadratic" else 4 * BATCH * author.size
        speed = f"{max(1, round(work * 1000 / pace))} FLOPS"
        if form == "speeds":
            return {"speed": f'{{ lognormal = {{ median = "{speed}", sigma = 0.4 }} }}'}
        return {"speed": f'"{speed}"'}

    def link(self, key):
        rate = self.rate(self.draws.one_of([1, 2, 4]))
        forms = [
            None,
            f'"{rate}bps"',
            f'{{ lognormal = {{ median = "{rate}bps", sigma = 0.8 }} }}',
            f'{{ uniform = ["{rate}bps", "{4 * rate}bps"] }}',
        ]
        return self.draws.deal(key, forms)

    def latency(self):
        if self.long:
            # Not much less than what deadlines allow for it: steps fill what is left.
            least = milliseconds(self.delay - 100 * self.pace)
            return f'{{ uniform = ["{least}", "{milliseconds(self.delay)}"] }}'
        step = milliseconds(self.pace)
        forms = [None, '"1ns"', f'"{step}"', f'{{ exponential = {{ mean = "{step}" }} }}']
        return self.draws.deal("latency", forms)

    def habits(self):
        """What makes a device change, with times that fit a run."""
        steps = lambda number: milliseconds(self.pace * number + self.delay // 2)
        exponential = lambda number: f'{{ exponential = {{ mean = "{steps(number)}" }} }}'
        return [
            ("jitter", [None, None, "0.2", "0.6"]),
            ("dropout", [None, None, None, "0.05", "0.3"]),
            (
                "slowdown",
                [
                    *[None] * 5,
                    f"{{ factor = 4.0, every = {exponential(25)}, lasting = {exponential(12)} }}",
                    f'{{ factor = 0.4, every = "{steps(30)}", lasting = "{steps(9)}" }}',
                ],
            ),
            (
                "thermal",
                [
                    *[None] * 5,
                    f'{{ curve = [["{steps(6)}", 0.6], ["{steps(20)}", 0.3]], cooling = 0.5 }}',
                    f'{{ curve = [["{steps(10)}", 0.5]] }}',
                    f'{{ curve = [["{steps(40)}", 0.7]], cooling = 0 }}',
                ],
            ),
        ]

    def availability(self):
        steps = lambda number: milliseconds((self.pace + self.delay // 10) * number)
        exponential = lambda number: f'{{ exponential = {{ mean = "{steps(number)}" }} }}'
        forms = [
            *[None] * 5,
            '"always"',
            f"{{ on = {exponential(60)}, off = {exponential(20)} }}",
            f'{{ on = "{steps(50)}", off = {{ uniform = ["{steps(5)}", "{steps(15)}"] }} }}',
            '{ trace = "traces/phones.csv.gz", repeat = true, shift = "random", assign = "random" }',
            '{ trace = "traces/six-phones.csv", repeat = "30m", devices = "budget" }',
        ]
        return self.draws.deal("availability", forms)

    def law(self):
        """A local law of the class's own."""
        if not self.draws.chance(0.3):
            return {}
        forms = [
            ("lr", "0.03"),
            ("weight_decay", "0.01"),
            ("momentum", "0.3"),
            ("prox", "0.2"),
            ("lr_decay", "0.95"),
        ]
        fits = lambda form: not self.author.plain or form[0] in ("lr", "weight_decay")
        return dict([self.draws.deal("law", forms, fits)])


def event(author):
    """One `[[event]]`."""
    draws = author.draws
    has_deadline = author.close in ("deadline", "adaptive")
    effects = [
        ("slow", "3.0"),
        ("slow", "0.3"),
        ("offline", "true"),
        ("leave", "true"),
        ("join", "true"),
        ("network", "0.4"),
        ("network", "0"),
        ("network", "{ up = 0.2, down = 0.5 }"),
        ("deadline", f'"{milliseconds(author.round // 2 + 1)}"'),
        ("lr", "0.015"),
        ("lr", "{ times = 0.5 }"),
    ]
    effect, value = draws.deal("effect", effects, lambda it: it[0] != "deadline" or has_deadline)
    when = {"round": draws.whole(2, max(2, author.rounds // 2))}
    if draws.deal("when", [False, True]):
        when = {"at": f'"{milliseconds(draws.whole(1, max(1, author.rounds * author.round // 3)))}"'}
    keys = {effect: value}
    if effect not in ("leave", "join"):
        lasting = draws.deal("lasting", ["no", "short", "long"])
        # Losing the connection for good would end most runs; `leave` covers that.
        for_good = lasting == "no" and effect != "offline" and value != "0"
        rounds = 1 if lasting == "short" else 4
        keys["lasting"] = None if for_good else f'"{milliseconds(rounds * author.round)}"'
    if effect not in ("deadline", "lr"):
        keys["select"] = selection(author, effect)
    return "[[event]]\n" + table(**when, **keys)


def selection(author, effect):
    """`select`, in every form."""
    draws, names = author.draws, author.fleet.names
    clients = lambda: str(draws.some(draws.whole(2, 4), author.clients))
    forms = {
        "nothing": lambda: None,
        "all": lambda: '"all"',
        "class": lambda: f'{{ class = "{draws.one_of(names)}" }}',
        "class part": lambda: f'{{ class = "{draws.one_of(names)}", fraction = 0.5 }}',
        "clients": lambda: f"{{ clients = {clients()} }}",
        "clients part": lambda: f"{{ clients = {clients()}, fraction = 0.5 }}",
        "part": lambda: f"{{ fraction = {draws.number(0.3, 0.6, 2)} }}",
    }

    def fits(form):
        # Clients are offline until they join: if all of them join with a round, no round ever opens.
        if effect == "join" and form in ("nothing", "all"):
            return False
        return len(names) > 1 or not form.startswith("class")

    return forms[draws.deal("select", list(forms), fits)]()
