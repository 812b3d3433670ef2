"""A device: what a step costs, what its links carry and whether it is there, at every instant.

All of it is piecewise constant. Changes are whole nanoseconds; values are exact fractions.
"""

from fractions import Fraction

from . import traces, units

SECOND = 10**9


class Span:
    """What an event does to a device from `begin` until `end`; None is for good."""

    def __init__(self, kind, value, begin, end):
        self.kind, self.value, self.begin, self.end = kind, value, begin, end

    def holds(self, now):
        return self.begin <= now and (self.end is None or now < self.end)


class Device:
    def __init__(self, keys, scenario, recording):
        self.name = keys["name"]
        self.keys = keys
        self.latency = units.duration(keys.get("latency", "0s"))
        self.up = units.rate(keys["uplink"]) if "uplink" in keys else None
        self.down = units.rate(keys["downlink"]) if "downlink" in keys else None
        self.step = step_time(keys, scenario)
        self.recording = recording
        always = keys.get("availability") == "always"
        self.presence = None if always else recording
        if isinstance(keys.get("availability"), dict):
            self.presence = traces.replayed(keys["availability"], "trace", scenario, keys["place"])
        self.spans = []
        self.heat = Heat(keys["thermal"]) if "thermal" in keys else None

    def product(self, kind, now):
        factor = Fraction(1)
        for span in self.spans:
            if span.kind == kind and span.holds(now):
                factor *= span.value
        return factor

    def slowed(self, now):
        factor = 1.0
        for span in self.spans:
            if span.kind == "slow" and span.holds(now):
                factor *= span.value
        return factor

    def cost(self, now):
        """Nanoseconds that a step takes at the speed of this instant."""
        recorded = self.recording and self.recording.value("step_time", now)
        # A slowed step is a whole number of nanoseconds: the nearest, of two the even one.
        cost = Fraction(max(1, round((recorded or self.step) * self.slowed(now))))
        return cost / self.heat.speed() if self.heat else cost

    def link(self, way, now):
        """Bits per nanosecond of `up` or `down`; None is no limit."""
        recorded = self.recording and self.recording.value(way, now)
        rate = getattr(self, way) if recorded is None else recorded
        factor = self.product(way, now)
        if rate is None:
            return Fraction(0) if factor == 0 else None
        return Fraction(rate) * factor / SECOND

    def changes(self, now):
        """The instants after now at which something changes; of recordings that repeat, the next few."""
        times = []
        while len(times) < 100 and (now := self.next_change(now)) is not None:
            times.append(now)
        return times

    def ends_for_good(self, way, now):
        """Whether a link that is 0 now stays so."""
        return all(self.link(way, time) == 0 for time in self.changes(now))

    def left(self, now):
        """Whether the device has gone for good by now, not whether it will."""
        if any(span.kind == "away" and span.end is None and span.begin <= now for span in self.spans):
            return True
        if self.presence is None:
            return False
        return all(self.presence.value("available", time) == 0 for time in [now, *self.changes(now)])

    def ever_present(self, now):
        return self.present(now) or any(self.present(time) for time in self.changes(now))

    def present(self, now):
        if any(span.kind == "away" and span.holds(now) for span in self.spans):
            return False
        return self.presence is None or self.presence.value("available", now) != 0

    def lost(self, now):
        """Whether what the device does at this instant is lost, although it stays."""
        return self.presence is not None and self.presence.lost(now)

    def next_change(self, now):
        """The next instant at which anything may change, but for warmth."""
        times = [time for span in self.spans for time in (span.begin, span.end)]
        for recording in (self.recording, self.presence):
            if recording:
                times.append(recording.next_change(now))
        return min((time for time in times if time is not None and time > now), default=None)


def step_time(keys, scenario):
    """Whole nanoseconds of a step, where the class says it."""
    if "step_time" in keys:
        return Fraction(units.duration(keys["step_time"]))
    if "speed" not in keys:
        return None
    full = isinstance(scenario.task.get("curvature"), list) and isinstance(
        scenario.task["curvature"][0][0], list
    )
    work = 2 * scenario.dim * (scenario.dim if full else 1)
    return Fraction(round(Fraction(work * SECOND) / units.speed(keys["speed"])))


class Heat:
    """Work that a device has not rested from, in nanoseconds, and what it does to the speed."""

    def __init__(self, keys):
        self.curve = [(units.duration(at), Fraction(str(part))) for at, part in keys["curve"]]
        self.cooling = Fraction(str(keys.get("cooling", 1.0)))
        self.work, self.since = Fraction(0), 0

    def settle(self, now, working):
        passed = now - self.since
        self.work = self.work + passed if working else max(Fraction(0), self.work - passed * self.cooling)
        self.since = now

    def speed(self):
        return next((part for at, part in reversed(self.curve) if self.work >= at), Fraction(1))

    def next_change(self, now):
        """When the speed changes if work goes on from now."""
        return min((now + units.ceiling(at - self.work) for at, _ in self.curve if at > self.work), default=None)
