"""Who is asked: in turn, or as the run drew."""

from .given import Illegal


class Choice:
    def __init__(self, scenario, given):
        self.scenario, self.given = scenario, given
        self.turn = 0

    def choose(self, free, count, number, now):
        """So many of the free clients, and for each what orders it among those asked at the same time."""
        if self.scenario.scheme == "round-robin":
            chosen = self.in_turn(free, count)
        elif self.scenario.scheme == "uniform" and count == len(free) and not self.scenario.one_by_one:
            chosen = free
        else:
            chosen = None
        if chosen and "first" not in self.scenario.close:
            return [(client, client) for client in chosen]
        # Among the first few the order is drawn, whoever is chosen.
        rows = self.given.drawn(number, now, chosen or free, count)
        clients = [int(row["client"]) for row in rows]
        if chosen and set(clients) != set(chosen):
            raise Illegal(f"round {number} at {now} ns asks {clients}, whose turn it is not: {chosen}")
        if not clients or len(clients) != count and self.scenario.scheme != "by-size":
            raise Illegal(f"round {number} at {now} ns asks {clients}, which is not {count} of {free}")
        return [(client, row["place"]) for client, row in zip(clients, rows)]

    def in_turn(self, free, count):
        chosen, clients = [], self.scenario.clients
        for step in range(clients):
            client = (self.turn + step) % clients
            if client in free and len(chosen) < count:
                chosen.append(client)
        if chosen:
            self.turn = (chosen[-1] + 1) % clients
        return chosen
