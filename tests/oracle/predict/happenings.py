"""`[[event]]`: what happens at an instant, or when a round opens."""

from fractions import Fraction

from . import units
from .device import Span


class Happenings:
    def __init__(self, scenario, world, rates):
        self.scenario, self.world, self.rates = scenario, world, rates
        self.deadlines = []
        self.joins = {}
        for place, event in enumerate(scenario.events):
            if "join" in event:
                # Before it they are not there; with a round, until that opens.
                spans = [Span("away", None, 0, None) for _ in self.selected(event)]
                for client, span in zip(self.selected(event), spans):
                    world.devices[client].spans.append(span)
                self.joins[place] = spans
            if "at" in event:
                self.happen(place, event, units.duration(event["at"]))

    def open(self, number, now):
        """A round opens."""
        for place, event in enumerate(self.scenario.events):
            if event.get("round") == number:
                self.happen(place, event, now)

    def happen(self, place, event, now):
        end = now + units.duration(event["lasting"]) if "lasting" in event else None
        clients, affect = self.selected(event), self.world.affect
        if "slow" in event:
            affect(clients, "slow", event["slow"], now, end)
        elif "offline" in event or "leave" in event:
            affect(clients, "away", None, now, end)
        elif "join" in event:
            for span in self.joins.pop(place):
                span.end = now
        elif "network" in event:
            parts = event["network"]
            if not isinstance(parts, dict):
                parts = {"up": parts, "down": parts}
            for way, part in parts.items():
                affect(clients, way, Fraction(str(part)), now, end)
        elif "deadline" in event:
            self.deadlines.append((units.duration(event["deadline"]), now, end))
        else:
            self.rates.happen(event["lr"], now, end)

    def deadline(self, usual, now):
        """The deadline of a round that opens now."""
        for value, begin, end in sorted(self.deadlines, key=lambda it: it[1]):
            if begin <= now and (end is None or now < end):
                usual = value
        return usual

    def selected(self, event):
        select = event.get("select", "all")
        if select == "all":
            return range(self.scenario.clients)
        if "clients" in select:
            return select["clients"]
        devices = enumerate(self.world.devices)
        return [number for number, device in devices if device.name == select["class"]]
