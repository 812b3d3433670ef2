"""Closes with rounds: all, a deadline, one that follows the clients, the first few."""

from fractions import Fraction

from . import units
from .server import Over, Server


class Rounds(Server):
    def __init__(self, scenario, given, task):
        super().__init__(scenario, given, task)
        # How long those took who sent an update, by round.
        self.took = {}
        self.company, self.answers = [], 0

    def go(self):
        while True:
            began = self.world.now
            self.wait(self.can_open)
            self.open()
            for trip in self.world.settle():
                self.back(trip)
            # What happens with the round may take away those who were there.
            self.wait(self.can_ask)
            self.waited = self.world.now - began
            self.set_rates()
            closes = self.deadline()
            self.ask(closes)
            self.finish_round(self.world.settle(), closes)

    def wait(self, can):
        """Until as many are there as the round asks, and one is free."""
        while not can(self.world.now):
            if not self.world.trips and not self.may_open():
                raise Over("deserted")
            for trip in self.advance():
                self.back(trip)

    def can_open(self, now):
        present = [client for client, device in enumerate(self.world.devices) if device.present(now)]
        free = set(present) - self.world.busy()
        wanted = self.scenario.asked
        if wanted is None or self.scenario.participation == "unbiased":
            wanted = 1
        # Who has left for good is not waited for.
        remain = sum(not device.left(now) for device in self.world.devices)
        return bool(free) and len(present) >= min(wanted, remain)

    def can_ask(self, now):
        if self.scenario.asked is not None and self.scenario.participation == "unbiased":
            # One of those drawn has to be free: who that is the run tells.
            return self.choice.given.sets_out(self.round, now)
        return self.can_open(now)

    def may_open(self):
        """Whether enough clients will be there at some time, as far as that is known."""
        changes = sorted({time for device in self.world.devices for time in device.changes(self.world.now)})
        return any(self.can_open(time) for time in changes)

    def deadline(self):
        """When the round closes at the latest, None if it waits for all."""
        usual = self.scenario.close.get("deadline")
        if usual is None:
            return None
        if isinstance(usual, dict):
            usual = self.percentile(usual)
        else:
            usual = units.duration(usual)
        usual = self.happenings.deadline(usual, self.world.now)
        return None if usual is None else self.world.now + usual

    def percentile(self, keys):
        # Rounds in which nobody sent an update tell nothing.
        rounds = [number for number in self.took if number < self.round][-keys["of"] :]
        took = sorted(time for number in rounds for time in self.took[number])
        if not took:
            return None
        place = units.ceiling(Fraction(str(keys["percentile"])) / 100 * len(took))
        return took[max(place, 1) - 1]

    def ask(self, closes):
        busy = self.world.busy()
        free = [client for client in self.world.present() if client not in busy]
        count = self.scenario.asked or len(free)
        until = closes if self.scenario.keeps else None
        chosen = self.choice.choose(free, min(count, len(free)), self.round, self.world.now)
        self.answers = 0
        self.company = [self.send(it, order, len(chosen), closes, until) for it, order in chosen]

    def finish_round(self, ended, closes):
        number = self.round
        while True:
            while ended and self.round == number:
                self.back(ended.pop(0))
                if self.is_full():
                    self.aggregate()
            if self.round == number and (self.is_over() or closes is not None and self.world.now >= closes):
                self.aggregate()
            if self.round != number:
                for trip in ended:
                    self.back(trip)
                return
            ended = self.advance(closes)

    def is_full(self):
        first = self.scenario.close.get("first")
        return first is not None and self.answers >= first

    def is_over(self):
        """Whether everybody has answered or is lost; who made no step is waited for."""
        waits = [trip for trip in self.company if trip.stage is not None]
        given_up = [trip for trip in self.company if trip.outcome == "no_step"]
        return not waits and not given_up

    def back(self, trip):
        self.world.unheard.discard(trip.client)
        if trip.outcome == "arrived":
            self.answers += trip.round == self.round
            self.took.setdefault(self.round, []).append(self.world.now - trip.asked_at)
            self.come_back(trip)
