"""Devices with fixed values, for the oracle, and what happens to them at known times."""

from .draws import table


class FixedFleet:
    """One to three classes in order, or one for every client."""

    def __init__(self, case):
        self.case, self.draws = case, case.draws
        draws = self.draws
        # Shares are such that every class has a whole number of clients.
        counts = [count for count in (1, 2, 3, 4) if case.clients % count == 0] + [case.clients]
        self.names = [f"class-{number}" for number in range(draws.one_of(counts))]
        self.classes = [self.device(number) for number in range(len(self.names))]
        self.links = self.server_links() if draws.chance(0.3) else {}

    def server_links(self):
        """Links that everybody shares: half to all of what the clients' own would carry."""
        # The share that a client expects is kept in 2^-20 bit/s: of these it is a whole number of them.
        limit = lambda: self.rate() * self.case.clients * self.draws.whole(2, 4) // 4 // 840 * 840 + 840
        forms = [["server_uplink"], ["server_downlink"], ["server_uplink", "server_downlink"]]
        return {key: f'"{limit()}bps"' for key in self.draws.one_of(forms)}

    def text(self):
        text = "[fleet]\n" + table(assign='"in-order"', **self.links)
        for name, keys in zip(self.names, self.classes):
            text += "[[fleet.class]]\n" + table(name=f'"{name}"', **keys)
        return text

    def rate(self):
        """A rate at which the model takes the time of one to four steps."""
        bits, time = 32 * self.case.dim, self.case.pace * self.draws.whole(1, 4)
        return max(1, bits * 10**9 // time)

    def device(self, number):
        draws, pace = self.draws, self.case.pace
        keys = {"step_time": f'"{pace * draws.whole(3, 25) // 10}ns"'}
        if draws.chance(0.15):
            # A step is 2 operations for every entry, of full matrices for every pair of entries.
            work = 2 * self.case.dim ** (2 if self.case.curvature == "matrices" else 1)
            keys = {"speed": f'"{work * 10**9 // (pace * draws.whole(3, 25) // 10) + 1} FLOPS"'}
        for key in ("uplink", "downlink"):
            keys[key] = draws.one_of([None, f'"{self.rate()}bps"'])
        keys["latency"] = draws.one_of([None, '"1ns"', f'"{pace * draws.whole(1, 9) // 7}ns"'])
        if draws.chance(0.2) and self.case.devices_change:
            self.record(number, keys)
        if draws.chance(0.15):
            keys["thermal"] = self.thermal()
        return {**keys, **self.law()}

    def record(self, number, keys):
        """A trace in the place of what the class says: two recordings, of speed and links, or of who is there."""
        draws, name = self.draws, f"trace-{number}.csv"
        replay = draws.one_of(["", ", repeat = true", f', repeat = "{self.case.span * draws.whole(2, 5)}ns"'])
        self.case.files[name] = self.recordings(draws.one_of(["speed", "links", "all"]))
        head = self.case.files[name].split("\n")[0]
        for key, column in {"step_time": "step", "speed": "step", "uplink": "up ", "downlink": "down"}.items():
            if column in head:
                keys.pop(key, None)
        keys["trace"] = f'{{ file = "{name}"{replay} }}'

    def recordings(self, what):
        """Rows that change all columns or some, at odd times."""
        draws, pace = self.draws, self.case.pace
        columns = {"speed": ["step_time [ns]"], "links": ["up [bps]", "down [bps]"], "all": []}[what]
        columns = columns or ["step_time [ns]", "up [bps]", "down [bps]"]
        if self.case.recorded_presence:
            columns = [*columns, "available"]
        text = ",".join(["device", "time [ns]", *columns]) + "\n"

        def value(column):
            if column == "available":
                return draws.one_of(["1", "0", "true", "lost"])
            return str(pace * draws.whole(3, 25) // 10 if "step" in column else self.rate())

        for device in ("first", "second"):
            time = 0
            rows = draws.whole(2, 5)
            for row in range(rows):
                some = [value(column) if row == 0 or draws.chance(0.6) else "" for column in columns]
                # Before something was said nothing can be lost.
                if row == 0 and columns[-1] == "available":
                    some[-1] = "1"
                # A row of nothing would be the end.
                some[0] = some[0] or value(columns[0])
                text += ",".join([device, str(time), *some]) + "\n"
                time += pace * draws.whole(5, 60) // 7 * 2 + 1
            text += f"{device},{time}{',' * len(columns)}\n"
        return text

    def thermal(self):
        """Speeds that fall after some steps of continuous work."""
        first, second = (f'"{self.case.pace * number // 3}ns"' for number in (self.draws.whole(3, 30), 70))
        # How half a nanosecond of warmth is rounded is said nowhere.
        cooling = self.draws.one_of(["", ", cooling = 1", ", cooling = 0", ", cooling = 2"])
        return f"{{ curve = [[{first}, 0.5], [{second}, 0.25]]{cooling} }}"

    def law(self):
        """A local law of the class's own."""
        if not self.draws.chance(0.3):
            return {}
        forms = [{"lr": "0.03"}, {"weight_decay": "0.01"}]
        if not self.case.plain:
            forms += [{"momentum": "0.3"}, {"prox": "0.2"}, {"lr_decay": "0.95"}]
        return self.draws.one_of(forms)


CHANGES = [
    ("slow", "3.0"),
    ("slow", "0.3"),
    ("slow", "1.7"),
    # The program keeps rates in 2^-20 bit/s, the documentation exactly: with these parts both are the same.
    ("network", "0.5"),
    ("network", "{ up = 0.125, down = 0.25 }"),
    ("network", "{ down = 3.5 }"),
]


def event(case, place):
    """One `[[event]]`. No two begin at the same instant: which of two deadlines holds then is said nowhere."""
    draws = case.draws
    effects = [("lr", "0.015"), ("lr", "{ times = 0.5 }")]
    if case.close in ("deadline", "adaptive"):
        effects.append(("deadline", f'"{case.span * draws.whole(4, 14) // 9}ns"'))
    if case.devices_change:
        effects += CHANGES
        # What a client expects of a link that is down, the oracle does not know.
        effects += [("network", "0")] if not case.keeps else []
        effects += 4 * case.leaving if not case.by_round or case.one_by_one else []
    effect, value = draws.one_of(effects)
    # What a round takes away from clients who are back at the very instant at which it opens is said nowhere.
    takes = effect in ("offline", "leave") or value == "0"
    alike = len(case.fleet.names) < case.clients
    if case.by_round and draws.chance(0.6) and not (takes and alike):
        when = {"round": 2 + place + 4 * draws.whole(0, max(1, case.rounds // 8))}
    else:
        when = {"at": f'"{case.span * draws.whole(1, 40) // 9 + 3 + place}ns"'}
    keys = {effect: value}
    waits = case.by_round and case.close not in ("all", "buffer", "each", "window")
    for_good = waits or effect in ("leave", "join") or effect != "offline" and value != "0" and draws.chance(0.4)
    if not for_good:
        keys["lasting"] = f'"{case.span * draws.whole(2, 30) // 7}ns"'
    if effect not in ("lr", "deadline"):
        keys["select"] = selection(case)
    return "[[event]]\n" + table(**when, **keys)


def selection(case):
    """`select`; a random part would be drawn by the program."""
    draws = case.draws
    some = str(draws.some(draws.whole(1, case.clients - 1), case.clients))
    forms = [f"{{ clients = {some} }}", f"{{ clients = {some} }}", None, '"all"']
    return draws.one_of(forms + [f'{{ class = "{draws.one_of(case.fleet.names)}" }}'])
