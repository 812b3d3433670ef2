"""How variants are called and drawn: the same colour for the same algorithm on the whole page.

Colours are names in style.css, made from a palette that colour-blind readers can tell apart; the mark
tells the rest. Variants that are not listed get a look from their name, or else one that is free.
"""

import re
from typing import NamedTuple


class Look(NamedTuple):
    label: str
    colour: str
    mark: str


LOOKS = {
    "fedavg": Look("FedAvg", "fedavg", "circle"),
    "fedprox": Look("FedProx", "fedprox", "triangle"),
    "vrlsgd": Look("VRLSGD", "vrlsgd", "down"),
    "fednova": Look("FedNova", "fednova", "square"),
    # Table 1: the local solver, then the weights.
    "vanilla-fedavg": Look("FedAvg", "fedavg", "circle"),
    "vanilla-fednova": Look("FedNova", "fednova", "square"),
    "momentum-fedavg": Look("FedAvg, momentum", "fedavg", "circle"),
    "momentum-fednova": Look("FedNova, momentum", "fednova", "square"),
    "proximal-fedavg": Look("FedProx", "fedprox", "triangle"),
    "proximal-fednova": Look("FedNova, proximal", "fednova", "square"),
    "proximal-fedavg-steps": Look("FedProx, τ_eff = Σ p_i τ_i", "server", "diamond"),
    "vr-fedavg": Look("SCAFFOLD", "scaffold", "diamond"),
    "vr-fednova": Look("FedNova, variance reduction", "fednova", "square"),
    "momentum-vr-fednova": Look("FedNova, both", "both", "down"),
    # Figure 8.
    "server-momentum-fednova": Look("FedNova, server momentum", "server", "triangle"),
    "hybrid-momentum-fednova": Look("FedNova, hybrid momentum", "both", "down"),
    "client-momentum": Look("Client momentum", "fednova", "square"),
    "server-momentum": Look("Server momentum", "server", "triangle"),
    "hybrid-momentum": Look("Hybrid momentum", "both", "down"),
    "fedprox-steps": Look("FedProx, τ_eff = Σ p_i τ_i", "server", "diamond"),
    "fednova-prox": Look("FedNova, proximal", "fednova", "square"),
    # Beyond the paper.
    "deadline": Look("FedNova, 1 min deadline", "fednova", "square"),
    "fedbuff": Look("FedBuff", "fedavg", "circle"),
    "fedbuff-fednova": Look("FedBuff, FedNova", "server", "triangle"),
    "fedbuff-discounted": Look("FedBuff, FedNova, stale discounted", "fedprox", "triangle"),
    "fedbuff-made-up-for": Look("FedBuff, FedNova, by how seldom heard", "both", "down"),
    "fedasync": Look("FedAsync, FedNova", "scaffold", "diamond"),
    "fedasync-made-up-for": Look("FedAsync, FedNova, by how seldom heard", "vrlsgd", "down"),
    "made-up-for": Look("FedNova, by how seldom heard", "both", "down"),
    "always": Look("FedNova, always there", "plain", "diamond"),
    "wait-for-all": Look("Wait for all", "plain", "diamond"),
    "discard": Look("Discard the late", "both", "down"),
}

SPARE = [
    ("server", "triangle"),
    ("both", "down"),
    ("scaffold", "diamond"),
    ("vrlsgd", "down"),
    ("fedprox", "triangle"),
    ("plain", "circle"),
]


def looks_of(variants):
    """A look for each of the variants of a run, none of them twice if it can be helped."""
    chosen = {name: LOOKS[name] for name in variants if name in LOOKS}
    taken = {look.colour for look in chosen.values()}
    for name in variants:
        if name in chosen:
            continue
        chosen[name] = _guess(name, taken)
        taken.add(chosen[name].colour)
    return chosen


def _guess(name, taken):
    label = name.replace("_", ".")
    alpha = alpha_of(name)
    if alpha is not None:
        return Look(f"α = {alpha:g}", "fedprox", "triangle")
    label = label.replace("-", " ").replace("fedavg", "FedAvg").replace("fednova", "FedNova")
    label = label[:1].upper() + label[1:]
    for family in ("fednova", "fedavg"):
        if family in name and family not in taken:
            return LOOKS[family]._replace(label=label)
    colour, mark = next((spare for spare in SPARE if spare[0] not in taken), SPARE[-1])
    return Look(label, colour, mark)


def alpha_of(name):
    """`alpha-0_05` is 0.05."""
    found = re.fullmatch(r"alpha-(\d+(?:_\d+)?)", name)
    return float(found.group(1).replace("_", ".")) if found else None


SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def deadline_of(name):
    """`fednova-1m30s` is `fednova`, 90 seconds and `1m30s`; without a deadline the last two are None."""
    found = re.fullmatch(r"(?:(.*?)-)?((?:\d+(?:_\d+)?(?:ms|s|m|h|d))+)", name)
    if not found:
        return name, None, None
    parts = re.findall(r"(\d+(?:_\d+)?)(ms|s|m|h|d)", found.group(2))
    seconds = sum(float(digits.replace("_", ".")) * SECONDS[unit] for digits, unit in parts)
    return found.group(1) or "", seconds, found.group(2).replace("_", ".")
