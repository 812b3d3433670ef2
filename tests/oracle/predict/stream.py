"""Closes without rounds: a buffer, each, a window. So many clients are kept busy."""

from . import units
from .server import Over, Server


class Stream(Server):
    def go(self):
        close = self.scenario.close
        self.size = close.get("buffer", 1 if "each" in close else None)
        self.window = units.duration(close["window"]) if "window" in close else None
        self.open()
        self.set_rates()
        self.fill()
        ended = self.world.settle()
        while True:
            for trip in ended:
                self.world.unheard.discard(trip.client)
                if trip.outcome == "arrived":
                    self.come_back(trip)
                if self.size and len(self.accepted) >= self.size:
                    self.close()
                self.fill()
            if self.window and self.world.now >= self.opened_at + self.window:
                self.close()
            self.fill()
            if not self.world.trips and not self.anybody_comes():
                raise Over("deserted")
            ended = self.world.settle() or self.advance(self.opened_at + self.window if self.window else None)

    def anybody_comes(self):
        """With a window rounds pass without anybody, so that one may come with a round."""
        joins = self.window and self.happenings.joins
        return joins or any(device.ever_present(self.world.now) for device in self.world.devices)

    def close(self):
        self.aggregate()
        self.open()
        self.set_rates()

    def fill(self):
        """Sends off clients until so many are busy, or nobody is left."""
        while True:
            busy = self.world.busy()
            free = [client for client in self.world.present() if client not in busy]
            places = self.scenario.concurrency - len(busy)
            if not free or places <= 0:
                return
            # In turn, all that are missing are asked at once; what is drawn is taken from the run one by one.
            count = min(places, len(free)) if self.scenario.scheme == "round-robin" else 1
            for client, order in self.choice.choose(free, count, self.round, self.world.now):
                self.send(client, order, self.scenario.concurrency)
