"""Who is asked: in turn, or as the run drew."""

from .given import Illegal


class Choice:
    def __init__(self, scenario, given):
        self.scenario, self.given = scenario, given
        self.turn, self.places = 0, 0

    def choose(self, free, count, number, now):
        """So many of the free clients, and for each what orders it among those asked at the same time."""
        chosen = self.known(free, count)
        if chosen and "first" not in self.scenario.close:
            return [(client, self.place()) for client in sorted(chosen)]
        # Among the first few the order is drawn, whoever is chosen.
        rows = self.given.drawn(number, now, chosen or free, count)
        clients = [int(row["client"]) for row in rows]
        if chosen and set(clients) != set(chosen):
            raise Illegal(f"round {number} at {now} ns asks {clients}, whose turn it is not: {chosen}")
        # By size, and unbiased, some of the draws may be of the same client or of one that is busy.
        least = count
        if self.scenario.participation == "unbiased":
            least = max(1, self.scenario.asked - (self.scenario.clients - len(free)))
        # A tier may have fewer clients that can be asked.
        if self.scenario.scheme == "by-size" or "tiers" in self.scenario.scheme:
            least = 1
        if not least <= len(clients) <= count:
            raise Illegal(f"round {number} at {now} ns asks {clients}, which is not {count} of {free}")
        return [(client, row["place"]) for client, row in zip(clients, rows)]

    def known(self, free, count):
        """Those who are asked where nothing is drawn, in the order of asking."""
        scenario = self.scenario
        if scenario.scheme == "round-robin":
            return self.in_turn(free, count)
        everybody = count == len(free) and (scenario.participation != "unbiased" or scenario.asked is None)
        return free if everybody and scenario.scheme == "uniform" and not scenario.one_by_one else None

    def place(self):
        """Those asked first come first."""
        self.places += 1
        return self.places

    def in_turn(self, free, count):
        chosen, clients = [], self.scenario.clients
        for step in range(clients):
            client = (self.turn + step) % clients
            if client in free and len(chosen) < count:
                chosen.append(client)
        if chosen:
            self.turn = (chosen[-1] + 1) % clients
        return chosen
