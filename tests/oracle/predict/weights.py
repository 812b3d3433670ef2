"""What updates weigh: weighting, participation, staleness and τ_eff (docs/scenario.md, [server])."""


class Weights:
    def __init__(self, scenario, shares):
        self.scenario = scenario
        clients = len(shares)
        # With uniform weights 1/m stands for p_i everywhere.
        self.p = [1 / clients] * clients if scenario.weighting == "uniform" else shares
        self.by_size = scenario.scheme == "by-size"
        # What one draw of a client counts.
        self.draw = [p / share for p, share in zip(self.p, shares)]
        asked = scenario.concurrency if scenario.one_by_one else scenario.asked or clients
        self.asked = asked
        self.chance = [asked * share if self.by_size else asked / clients for share in shares]
        self.uses = [0] * clients
        self.heard = {}

    def discount(self, staleness):
        kind = self.scenario.staleness
        if not self.scenario.one_by_one and self.scenario.late != "stale" or kind == "constant":
            return 1.0
        if "polynomial" in kind:
            return (1.0 + staleness) ** -kind["polynomial"]
        a, b = kind["hinge"]["a"], kind["hinge"]["b"]
        return 1.0 if staleness <= b else 1.0 / (a * (staleness - b) + 1.0)

    def weigh(self, updates, aggregation):
        """Sets the weight of every update of an aggregation. Returns τ_eff."""
        if not updates:
            return 0.0
        for update in updates:
            # Of several updates of a client in one aggregation, each counts those before it.
            self.uses[update.client] += update.draws if self.by_size else 1
            self.heard[update.client] = update
            update.weight = self.base(update, aggregation)
        kind = self.scenario.participation
        if kind == "renormalize":
            total = sum(update.weight for update in updates)
            for update in updates:
                update.weight /= total
            over = [(update.weight, update) for update in updates]
        else:
            over = [(self.p[update.client], update) for update in self.heard.values()]
        accumulation = mean(over, lambda update: update.accumulation)
        for update in updates:
            if self.scenario.weighting == "fedavg":
                update.weight *= update.accumulation / accumulation
            update.weight *= self.discount(update.staleness)
        if self.scenario.tau_eff == "accumulation":
            return accumulation
        if self.scenario.tau_eff == "steps":
            return mean(over, lambda update: update.tau)
        return self.scenario.tau_eff

    def base(self, update, aggregation):
        client, kind = update.client, self.scenario.participation
        if kind == "inverse-probability":
            chance = (self.uses[client] + self.chance[client]) / (aggregation + 1)
            return self.p[client] / chance * (update.draws if self.by_size else 1)
        if self.by_size:
            part = update.draws * self.draw[client]
            return part / self.asked if kind == "unbiased" else part
        return self.p[client] * len(self.p) / self.asked if kind == "unbiased" else self.p[client]


def mean(over, value):
    total = sum(weight for weight, _ in over)
    return sum(weight * value(update) for weight, update in over) / total if total else 0.0
