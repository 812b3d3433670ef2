"""Variance reduction: a vector for every client, and their mean that is sent along (docs/scenario.md)."""


class Correction:
    def __init__(self, kind, shares, size):
        self.kind, self.shares = kind, shares
        self.own = [[0.0] * size for _ in shares]
        self.mean = [0.0] * size

    def of(self, client):
        """What is added to a client's gradients."""
        own = self.own[client]
        if self.kind == "none":
            return [0.0] * len(own)
        if self.kind == "vrlsgd":
            return [-value for value in own]
        return [mean - value for mean, value in zip(self.mean, own)]

    def accept(self, update):
        """An update is accepted: its client's vector changes."""
        if self.kind in ("none", "vrlsgd"):
            return
        d = [value / (update.unit * update.accumulation) for value in update.change]
        if self.kind != "fednova-as-printed":
            # The gradients alone: the correction was the same in every step.
            d = [value - c for value, c in zip(d, update.correction)]
        self.own[update.client] = d

    def aggregate(self, updates):
        """An aggregation is made of updates."""
        if self.kind == "vrlsgd" and updates:
            # VRL-SGD's Δ_i + (x̂ − x_i)/(kη), where x̂ is the mean of the clients' models; of those who set out
            # from different models the changes are compared.
            total = sum(self.shares[update.client] for update in updates)
            for j in range(len(self.mean)):
                mean = sum(self.shares[update.client] * update.change[j] for update in updates) / total
                for update in updates:
                    gone = update.unit * update.accumulation
                    self.own[update.client][j] += (update.change[j] - mean) / gone
        for j in range(len(self.mean)):
            self.mean[j] = sum(p * own[j] for p, own in zip(self.shares, self.own))
