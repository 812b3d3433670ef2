"""The numbers: what clients compute, how updates become a model, and what is measured of it."""

from . import compress, solver
from .correction import Correction
from .optimizer import Optimizer
from .rates import Rates
from .weights import Weights


class Update:
    """What a client sent."""

    def __init__(self, trip, law, unit, start, correction):
        self.trip, self.client, self.tau, self.draws = trip, trip.client, trip.tau, trip.draws
        self.staleness, self.weight = 0, 0.0
        self.law, self.unit, self.start, self.correction = law, unit, start, correction
        self.accumulation = solver.accumulation(trip.tau, law, unit)
        self.change = None


class Learner:
    def __init__(self, scenario, devices, task):
        self.scenario, self.devices, self.task = scenario, devices, task
        self.x = scenario.start(task.tensors)
        self.rates = Rates(scenario)
        self.weights = Weights(scenario, self.task.shares)
        self.correction = Correction(scenario.variance_reduction, self.weights.p, scenario.dim)
        self.optimizer = Optimizer(scenario.optimizer, scenario.dim)
        self.left_over = {}
        # ŵ: how far each client's normalised gradients moved the model.
        self.moved = [0.0] * scenario.clients

    def begin(self, trip, unit):
        """What a client takes along when it sets out."""
        trip.unit = unit
        trip.law = self.rates.law(self.devices[trip.client].keys, unit)
        trip.start, trip.correction = self.x, self.correction.of(trip.client)

    def arrive(self, trip):
        """A client is back: what it sends, whether it is used or not."""
        update = Update(trip, trip.law, trip.unit, trip.start, trip.correction)
        gradient = lambda x: self.task.gradient(trip.client, x)
        change = solver.steps(gradient, trip.start, trip.tau, trip.law, trip.correction)
        if self.scenario.compression.get("error_feedback"):
            kept = self.left_over.get(trip.client, [0.0] * len(change))
            change = [a + b for a, b in zip(change, kept)]
        update.change = compress.compressed(self.scenario.compression, change)
        if self.scenario.compression.get("error_feedback"):
            self.left_over[trip.client] = [a - b for a, b in zip(change, update.change)]
        return update

    def accept(self, update):
        self.correction.accept(update)

    def aggregate(self, updates, aggregation, unit):
        """x ← x − τ_eff Σ w_i η d_i, through the optimizer. Returns τ_eff."""
        tau_eff = self.weights.weigh(updates, aggregation)
        if not updates:
            # Nothing moves, whatever the optimizer has collected.
            return tau_eff
        delta = [0.0] * len(self.x)
        for update in updates:
            # η d_i = Δ_i/‖a_i‖₁, with the η of the round in which the client set out.
            scale = tau_eff * update.weight / update.accumulation
            delta = [total - scale * change for total, change in zip(delta, update.change)]
            self.moved[update.client] += tau_eff * update.weight * update.unit
        self.x = self.optimizer.move(self.x, delta, unit)
        self.correction.aggregate(updates)
        return tau_eff

    def chi2(self):
        """Σ (p_i − ŵ_i)²/ŵ_i over those who were heard, both summing to 1."""
        heard = [client for client, moved in enumerate(self.moved) if moved > 0]
        if not heard:
            return 0.0
        share = sum(self.task.shares[client] for client in heard)
        total = sum(self.moved)
        parts = [(self.task.shares[client] / share, self.moved[client] / total) for client in heard]
        return sum((p - w) ** 2 / w for p, w in parts)

    def missing_mass(self):
        return sum(p for p, moved in zip(self.task.shares, self.moved) if moved == 0)

    def normalised(self):
        total = sum(self.moved)
        return [moved / total for moved in self.moved]
