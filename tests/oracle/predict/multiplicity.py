"""How often each client was drawn by size: the run tells by the weights of its updates.

What a weight says is taken for a number of draws only if it is whole; every weight is compared afterwards.
"""

from .given import Illegal
from .weights import mean


def infer(weights, updates, aggregation, told):
    """Sets the draws of every update of an aggregation from the weights that were told."""
    scenario = weights.scenario
    heard = {**weights.heard, **{update.client: update for update in updates}}
    accumulation = mean([(weights.p[it.client], it) for it in heard.values()], lambda it: it.accumulation)
    uses = list(weights.uses)
    parts = []
    for update, weight in zip(updates, told):
        part = weight / weights.discount(update.staleness)
        if scenario.weighting == "fedavg":
            part *= accumulation / update.accumulation
        if scenario.participation == "inverse-probability":
            part /= weights.p[update.client] * (aggregation + 1)
            part *= (uses[update.client] + weights.chance[update.client]) / (1 - part)
            uses[update.client] += round(part)
        else:
            part /= weights.draw[update.client]
            part *= weights.asked if scenario.participation == "unbiased" else 1
        parts.append(part)
    if scenario.participation == "renormalize" and parts:
        # Only the ratios are known: the fewest draws that have them.
        least = min(parts)
        fits = lambda scale: all(whole(scale * part / least) for part in parts)
        scale = next(filter(fits, range(1, weights.asked + 1)), 1)
        parts = [scale * part / least for part in parts]
    for update, part in zip(updates, parts):
        if not whole(part) or not 1 <= round(part) <= weights.asked:
            raise Illegal(f"round {update.trip.round}: client {update.client} seems to be drawn {part} times")
        update.draws = round(part)


def whole(number):
    return abs(number - round(number)) < 1e-6
