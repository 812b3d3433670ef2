"""The local law: G ← g(x) + λx + μ(x − x₀) + c, u ← ρu + G, x ← x − ηγᵏu (docs/scenario.md, [client])."""


def steps(gradient, start, count, law, correction):
    """The change x₀ − x after so many steps."""
    x, u = list(start), [0.0] * len(start)
    rate = law["lr"]
    for _ in range(count):
        g = gradient(x)
        for j, (value, origin) in enumerate(zip(list(x), start)):
            total = g[j] + law["weight_decay"] * value + law["prox"] * (value - origin) + correction[j]
            u[j] = law["momentum"] * u[j] + total
            x[j] = value - rate * u[j]
        rate *= law["lr_decay"]
    return [origin - value for value, origin in zip(x, start)]


def accumulation(count, law, unit):
    """Σ a_k in units of `unit`, the rate of [client]. The law is linear in the gradients, so their
    coefficients sum to the change that constant gradients of 1 make."""
    change, u, rate = 0.0, 0.0, law["lr"]
    for _ in range(count):
        u = law["momentum"] * u + 1.0 - law["prox"] * change
        change += rate * u
        rate *= law["lr_decay"]
    return change / unit
