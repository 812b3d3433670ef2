"""From a run to the charts of its panel.

Each kind of chart in panels.py has a function here that gathers series from the run, picks the axes and
hands both to chart.py. A chart whose data is missing is None, and the page says so.
"""

import math
from html import escape

import chart
import panels
from axes import Linear, Log
from curves import over_seeds
from formats import count, number
from looks import LOOKS, alpha_of, deadline_of, looks_of
from measured import quantity

# What it is, and its unit.
METRICS = {
    "test_accuracy": ("Test accuracy", " (%)"),
    "train_loss": ("Training loss F(x)", ""),
    "test_loss": ("Test loss", ""),
    "distance": ("Distance ‖x − x*‖", ""),
    "grad_norm": ("Gradient norm ‖∇F(x)‖", ""),
}
ONE, SEVERAL = (600, 370), (430, 310)


def figures(panel, run, chosen=None):
    """The `<figure>`s of a panel and notes to them. `chosen` is the variant that theory prefers, if any."""
    size = ONE if len(panel.charts) == 1 else SEVERAL
    makers = {
        panels.Curves: _curves,
        panels.Alphas: _alphas,
        panels.Deadlines: _deadlines,
        panels.Scatter: _scatter,
    }
    drawn, notes = [], []
    for spec in panel.charts:
        made = makers[type(spec)](spec, panel, run, size, chosen)
        if made:
            drawn.append(made[0])
            notes += [note for note in made[1] if note not in notes]
    return drawn, notes


def _figure(series, x, y, panel, size, title="", summary=""):
    name = f"{panel.title}{', ' if title else ''}{title}: {y.title} over {x.title.lower()}"
    drawing = chart.draw(series, x, y, name, summary or _summary(series), size)
    head = f"<h4>{escape(title)}</h4>" if title else ""
    keys = chart.legend(series) if len(series) > 1 else ""
    return f"<figure>{head}{keys}<div>{drawing}</div></figure>"


def _summary(series):
    told = []
    for one in series:
        if one.rule is not None:
            told.append(f"{one.label}: {number(one.rule)}")
        elif one.points:
            told.append(f"{one.label}: from {number(one.points[0][1])} to {number(one.points[-1][1])}")
    return "; ".join(told) + "."


def _curves(spec, panel, run, size, _chosen):
    unit, per_unit = _time_unit(run) if spec.over == "virtual_seconds" else ("", 1.0)
    series, seeds = _lines(spec, run, per_unit)
    if not series:
        return None
    # Charts of the same metric in one row have the same height for the same value.
    kin = [other for other in panel.charts if other.metric == spec.metric]
    together = [one for other in kin for one in _lines(other, run, per_unit)[0]]
    x_title = "Communication round" if spec.over == "round" else f"Simulated time ({unit})"
    x = Linear(x_title, 0.0, max(one.points[-1][0] for one in series), snap=False)
    y = _y_axis("".join(METRICS[spec.metric]), together, spec.log, spec.limits, size)
    notes = []
    if seeds > 1:
        notes.append(f"Means over {count(seeds, 'seed')}; bands reach from the lowest to the highest.")
    if any(one.dashed_rule is not None for one in series):
        notes.append("Dashed: where theory says that it comes to rest.")
    diverged = [name for name in run.variants() if run.diverged(name)]
    if diverged:
        looks = looks_of(diverged)
        notes.append(" and ".join(looks[name].label for name in diverged) + " diverged.")
    return _figure(series, x, y, panel, size, spec.title), notes


def _lines(spec, run, per_unit):
    """A series per variant, and how many seeds there are."""
    scale = 100.0 if spec.metric == "test_accuracy" else 1.0
    names = spec.variants or tuple(run.variants())
    looks = looks_of(names)
    series, seeds = [], 0
    for name in names:
        curves = run.curves(name, spec.over, spec.metric)
        line, band = over_seeds([[(a / per_unit, b * scale) for a, b in curve] for curve in curves])
        if line:
            label, colour, mark = looks[name]
            predicted = run.mean(name, "schedule.fixed_point.distance") if spec.predicted else None
            series.append(chart.Series(label, colour, mark, line, band, dashed_rule=predicted))
            seeds = max(seeds, len(curves))
    return series, seeds


def _y_axis(title, series, log, limits=(None, None), size=ONE):
    values = [b for one in series for _, b in one.points]
    values += [b for one in series for _, low, high in one.band for b in (low, high)]
    values += [b for one in series for b in (one.rule, one.dashed_rule) if b is not None]
    values = [b for b in values if math.isfinite(b) and (b > 0 or not log)]
    low, high = min(values, default=1.0), max(values, default=1.0)
    low = low if limits[0] is None else limits[0]
    high = high if limits[1] is None else limits[1]
    ticks = 6 if size == ONE else 5
    return Log(title, low, high, ticks) if log else Linear(title, low, high, ticks)


def _time_unit(run):
    longest = max((seed.get("virtual_seconds") or 0.0 for seed in run.ends), default=0.0)
    for unit, seconds in (("s", 1.0), ("min", 60.0), ("h", 3600.0)):
        if longest <= 180 * seconds:
            return unit, seconds
    return "days", 86400.0


def _alphas(spec, panel, run, size, _chosen):
    alphas = {name: alpha_of(name) for name in run.variants()}
    points = [(alpha, quantity(run, name, spec.quantity)) for name, alpha in alphas.items()]
    points = sorted(point for point in points if None not in point)
    if not points:
        return None
    look = LOOKS["fedprox"]
    series = [chart.Series(spec.title, look.colour, look.mark, points, style="joined")]
    x = Linear("α = ημ", 0.0, points[-1][0], ticks=5)
    y = Linear(spec.title, min(0.0, *(b for _, b in points)), max(b for _, b in points), ticks=5)
    return _figure(series, x, y, panel, size), []


def _deadlines(spec, panel, run, _size, chosen):
    measured = [m for m in spec.metrics if any(run.values(v, "metrics." + m) for v in run.variants())]
    if not measured:
        return None
    metric = measured[0]
    scale = 100.0 if metric == "test_accuracy" else 1.0
    by_policy, ticks, starred = {}, {}, None
    for name in run.variants():
        policy, seconds, label = deadline_of(name)
        values = [value * scale for value in run.values(name, "metrics." + metric)]
        if not values:
            continue
        # Without a deadline it is the same whatever the others have: a rule across the chart.
        by_policy.setdefault((policy, seconds is None), []).append((seconds, values))
        if seconds is not None:
            ticks[seconds] = label
            starred = seconds if name == chosen else starred
    if not ticks:
        return None
    series = []
    looks = looks_of([policy for policy, _ in by_policy])
    for (policy, no_deadline), ends in by_policy.items():
        look = looks[policy]
        means = [(seconds, sum(values) / len(values)) for seconds, values in ends]
        if no_deadline:
            series.append(chart.Series(look.label, look.colour, look.mark, rule=means[0][1]))
            continue
        means.sort()
        band = [(seconds, min(values), max(values)) for seconds, values in sorted(ends) if len(values) > 1]
        ring = starred if spec.mark_chosen else None
        series.append(chart.Series(look.label, look.colour, look.mark, means, band, "joined", starred=ring))
    low, high = min(ticks), max(ticks)
    x = Log("Deadline", low / 1.25, high * 1.25, snap=False, at=sorted(ticks.items()))
    y = _y_axis(" at the end".join(METRICS[metric]), series, spec.log)
    ringed = spec.mark_chosen and starred is not None
    notes = [f"Ringed: {ticks[starred]}, the deadline with the least bound."] if ringed else []
    if any(one.band for one in series):
        notes.append("Means over seeds; bands reach from the lowest to the highest.")
    return _figure(series, x, y, panel, ONE), notes


def _scatter(spec, panel, run, size, _chosen):
    series = []
    looks = looks_of(run.variants())
    for name in run.variants():
        points = [(a, b) for a, b in run.pairs(name, spec.x, spec.y) if a > 0 and b > 0]
        if points:
            look = looks[name]
            series.append(chart.Series(look.label, look.colour, look.mark, points, style="scattered"))
    if not series:
        return None
    xs = [a for one in series for a, _ in one.points]
    x = Log("χ² of the run", min(xs), max(xs))
    y = _y_axis(" at the end".join(METRICS[spec.y.split(".")[-1]]), series, log=True)
    notes = [f"A point for each of {count(len(xs), 'seed')}."]
    for one in run.expectations:
        if "correlation" in one["that"]:
            notes.append(f"Expected: {one['that']}; measured: {number(one['measured'])}.")
    return _figure(series, x, y, panel, size, summary=" ".join(notes)), notes
