"""`[[event]]`: what happens at an instant, or when a round opens."""

from fractions import Fraction

from . import units


class Happenings:
    def __init__(self, scenario, world, rates):
        self.scenario, self.world, self.rates = scenario, world, rates
        self.deadlines = []
        for event in scenario.events:
            if "at" in event:
                self.happen(event, units.duration(event["at"]))
            elif "join" in event:
                # Before the round they were not there.
                world.affect(self.selected(event), "away", None, 0, None)

    def open(self, number, now):
        """A round opens."""
        for event in self.scenario.events:
            if event.get("round") == number:
                self.happen(event, now)

    def happen(self, event, now):
        end = now + units.duration(event["lasting"]) if "lasting" in event else None
        clients, affect = self.selected(event), self.world.affect
        if "slow" in event:
            affect(clients, "slow", Fraction(str(event["slow"])), now, end)
        elif "offline" in event or "leave" in event:
            affect(clients, "away", None, now, end)
        elif "join" in event:
            self.join(clients, now)
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

    def join(self, clients, now):
        for client in clients:
            spans = self.world.devices[client].spans
            waiting = [span for span in spans if span.kind == "away" and span.begin == 0 and span.end is None]
            if waiting:
                waiting[0].end = now
            else:
                self.world.affect([client], "away", None, 0, now)

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
