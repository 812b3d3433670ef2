"""Closes with rounds: all, a deadline, one that follows the clients, the first few."""

from fractions import Fraction

from . import units
from .server import Server


class Rounds(Server):
    def __init__(self, scenario, given, start):
        super().__init__(scenario, given, start)
        # How long those took who sent an update, by round.
        self.took = {}
        self.company, self.answers = [], 0

    def go(self):
        while True:
            self.wait()
            self.open()
            closes = self.deadline()
            self.ask(closes)
            self.finish_round(self.world.settle(), closes)

    def wait(self):
        """Until as many are there as the round asks, and one is free."""
        began = self.world.now
        while not self.can_open():
            for trip in self.advance():
                self.back(trip)
        self.waited = self.world.now - began

    def can_open(self):
        present = self.world.present()
        free = set(present) - self.world.busy()
        wanted = self.scenario.asked
        if wanted is not None and self.scenario.participation == "unbiased":
            # It opens when one of those drawn is free: who that is the run tells.
            return bool(free) and self.choice.given.sets_out(self.round, self.world.now)
        if wanted is None:
            wanted = 1
        return bool(free) and len(present) >= wanted

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
        rounds = range(self.round - keys["of"], self.round)
        took = sorted(time for number in rounds for time in self.took.get(number, []))
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
