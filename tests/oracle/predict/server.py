"""What all ways of closing rounds have in common: time, those who come back, aggregations, the end."""

from . import compress, multiplicity
from .choice import Choice
from .happenings import Happenings
from .learner import Learner
from .trip import Trip
from .world import World


class Over(Exception):
    """The run is over; the message is `stopped_by`."""


class Server:
    def __init__(self, scenario, given, task):
        self.scenario = scenario
        bits = compress.bits(scenario.compression, scenario.dim)
        reduction = scenario.variance_reduction
        down = 32 * scenario.dim * (1 if reduction in ("none", "vrlsgd") else 2)
        self.world = World(scenario, down, bits * (2 if reduction == "scaffold" else 1))
        self.learner = Learner(scenario, self.world.devices, task)
        self.happenings = Happenings(scenario, self.world, self.learner.rates)
        self.choice = Choice(scenario, given)
        shared = any(limit is not None for limit in self.world.limits.values())
        self.unordered = shared or any("round" in event for event in scenario.events)
        self.round, self.opened_at, self.unit = 1, 0, None
        self.trips, self.rows = [], []
        # Updates that wait for the next aggregation.
        self.accepted = []
        self.sent, self.waited = 0, 0
        self.start = self.learner.task.metrics(self.learner.x)
        self.stopped_by = None

    def run(self):
        try:
            self.go()
        except Over as over:
            self.stopped_by = str(over)
        # Whose phase ends at this very instant is in the next.
        self.world.settle()
        for trip in self.world.trips:
            trip.end("unfinished", self.world.now)
        for update in self.accepted:
            update.trip.outcome = "unfinished"
        for trip in self.trips:
            # Back at the very instant at which the run ended, and not heard any more. Whether its steps are told
            # depends on whether links are shared.
            if trip.outcome in ("arrived", "no_step") and trip.client in self.world.unheard:
                trip.outcome, trip.tau, trip.unheard = "unfinished", 0, True
        return self

    def open(self):
        """The instant at which a round opens: what is said of it holds for those who set out in it."""
        self.opened_at = self.world.now
        self.happenings.open(self.round, self.world.now)

    def set_rates(self):
        self.unit = self.learner.rates.unit(self.round, self.world.now)

    def send(self, client, order, company, closes=None, until=None):
        trip = Trip(client, self.round, self.round - 1, self.world.now)
        trip.planned = self.scenario.steps(client)
        trip.closes, trip.deadline = closes, until
        trip.gives_up = until is not None
        self.learner.begin(trip, self.unit)
        trip.nth = sum(other.client == client for other in self.trips)
        # Of those who are back at the same instant those asked first come first; not where shared links or
        # events of a round had a part in it (traces/README.md): there the run tells.
        if self.unordered:
            trip.tie = (self.choice.given.place(client, trip.nth),)
        else:
            trip.tie = (trip.asked_at, order)
        self.trips.append(trip)
        self.sent += 1
        self.world.send(trip, company)
        return trip

    def advance(self, other=None):
        """To the next instant at which something happens, or to another one if that is earlier."""
        times = [time for time in (self.world.next_time(), other) if time is not None]
        if not times:
            raise Over("deserted")
        time, limit = min(times), self.scenario.time
        if limit is not None and time > limit:
            self.world.advance(limit)
            raise Over("time")
        return self.world.advance(time)

    def come_back(self, trip):
        """Whether an update is accepted for the aggregation of this round."""
        update = self.learner.arrive(trip)
        trip.accumulation = update.accumulation
        trip.staleness = update.staleness = self.round - 1 - trip.version
        old = trip.round != self.round and not self.scenario.one_by_one
        most = self.scenario.max_staleness
        if old and self.scenario.late == "drop" or most is not None and trip.staleness > most:
            trip.outcome = "late"
            return False
        self.learner.accept(update)
        self.accepted.append(update)
        return True

    def aggregate(self):
        updates, self.accepted = self.accepted, []
        if self.scenario.scheme == "by-size":
            told = [self.choice.given.weight(update.trip) for update in updates]
            multiplicity.infer(self.learner.weights, updates, self.round, told)
        tau_eff = self.learner.aggregate(updates, self.round, self.unit)
        steps = []
        for update in updates:
            update.trip.outcome, update.trip.weight = "used", update.weight
            steps.append(update.tau)
        row = {
            "round": self.round,
            "virtual_ns": self.world.now,
            "asked": self.sent,
            "arrived": len(updates),
            "tau_eff": tau_eff,
            "tau_min": min(steps, default=0),
            "tau_mean": sum(steps) / len(steps) if steps else 0,
            "tau_max": max(steps, default=0),
            "chi2": self.learner.chi2(),
            "missing_mass": self.learner.missing_mass(),
            "waited_ns": self.waited,
            "x": self.learner.x,
            "shares": self.learner.normalised() if any(self.learner.moved) else None,
        }
        row.update(self.learner.task.metrics(self.learner.x))
        self.rows.append(row)
        self.sent, self.waited = 0, 0
        self.check_end(row)
        self.round += 1

    def measured(self, number):
        """Whether the model is measured after an aggregation; None where the program chooses."""
        every = self.scenario.evaluate_every
        # The last row has the metrics of the end, wherever that is.
        if number == len(self.rows) or self.scenario.target and every == "auto":
            return True
        return None if every == "auto" else number % every == 0

    def check_end(self, row):
        scenario, target = self.scenario, self.scenario.target
        if self.round == scenario.rounds:
            raise Over("rounds")
        every = scenario.evaluate_every
        if target and (every == "auto" or self.round % every == 0):
            value = row[target["metric"]]
            if value <= target.get("at_most", float("-inf")) or value >= target.get("at_least", float("inf")):
                raise Over("target")
