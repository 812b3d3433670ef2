"""Learning rates from round to round: `lr_schedule`, and events with `lr`."""

from . import units


class Rates:
    def __init__(self, scenario):
        self.scenario = scenario
        self.spans = []

    def happen(self, value, begin, end):
        self.spans.append((value, begin, end))

    def unit(self, number, opened_at):
        """The rate of [client] in a round."""
        rate = self.scenario.law["lr"]
        for value, begin, end in sorted(self.spans, key=lambda span: span[1]):
            if begin <= opened_at and (end is None or opened_at < end) and not isinstance(value, dict):
                rate = value
        for value, begin, end in self.spans:
            if begin <= opened_at and (end is None or opened_at < end) and isinstance(value, dict):
                rate *= value["times"]
        for entry in self.scenario.lr_schedule:
            if number > self.after(entry["after"]):
                rate *= entry["times"]
        return rate

    def after(self, after):
        if isinstance(after, str):
            part = units.Fraction(after.removesuffix("%")) / 100
            return max(1, units.nearest(part * self.scenario.rounds))
        return after

    def law(self, device_keys, unit):
        """The local law of a class in a round; a rate of its own keeps its ratio to that of [client]."""
        base = self.scenario.law
        law = {key: device_keys.get(key, value) for key, value in base.items()}
        law["lr"] = unit * (law["lr"] / base["lr"])
        return law
