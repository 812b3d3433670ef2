"""What was measured, as a small table beside the paper's claim: a row per variant.

Columns in which nothing was measured are left out, so a panel may ask for more than its run has.
"""

from html import escape

import formats
from chart import Series, swatch
from looks import deadline_of, looks_of
from panels import Curves


def quantity(run, variant, key):
    """A number of a variant, the mean over its seeds; see COLUMNS for the keys."""
    if key == "relative_variance":
        own, plain = run.mean(variant, "schedule.A"), run.mean("alpha-0", "schedule.A")
        return own / plain if own is not None and plain else None
    return run.mean(variant, COLUMNS[key][1])


# Key: the heading, where it is in summary.json, how it is written.
COLUMNS = {
    "distance": ("Distance", "metrics.distance", formats.spread),
    "grad_norm": ("Gradient norm", "metrics.grad_norm", formats.spread),
    "train_loss": ("Training loss", "metrics.train_loss", formats.spread),
    "test_accuracy": ("Accuracy at the end (%)", "metrics.test_accuracy", formats.percent),
    "best_test_accuracy": ("Best round (%)", "best.test_accuracy", formats.percent),
    "chi2": ("χ²", "chi2", formats.spread),
    "missing_mass": ("Never heard (%)", "missing_mass", formats.percent),
    "predicted": ("Predicted", "schedule.fixed_point.distance", formats.spread),
    "gap": ("Off by", "schedule.fixed_point.gap", formats.spread),
    "slowdown": ("Slowdown", "schedule.slowdown", formats.spread),
    "relative_variance": ("Relative variance", None, None),
}


def table(panel, run, chosen=None):
    """`chosen` is the variant that theory prefers, if there is one."""
    if panel.columns == ("deadlines",):
        return _by_deadline(run)
    shown = [v for spec in panel.charts for v in getattr(spec, "variants", ())] or run.variants()
    shown = [variant for variant in shown if run.seeds(variant)]
    keys = [key for key in panel.columns if any(quantity(run, v, key) is not None for v in shown)]
    labels = _labels(panel, shown)
    head = "".join(f"<th>{escape(COLUMNS[key][0])}</th>" for key in keys)
    rows = []
    for variant in shown:
        cells = "".join(f"<td>{_cell(run, variant, key)}</td>" for key in keys)
        star = " <small>least bound</small>" if variant == chosen else ""
        rows.append(f"<tr><th>{labels[variant]}{star}</th>{cells}</tr>")
    return (
        f'<table class="measured"><thead><tr><th></th>{head}</tr></thead>'
        f'<tbody>{"".join(rows)}</tbody></table>'
    )


def _labels(panel, shown):
    """The key of the chart and the name. Where a variant is a point of the chart, the name alone."""
    looks = looks_of(shown)
    if not any(isinstance(spec, Curves) for spec in panel.charts):
        return {v: escape(deadline_of(v)[2] or looks[v].label) for v in shown}
    keys = {v: swatch(Series(looks[v].label, looks[v].colour, looks[v].mark)) for v in shown}
    return {v: f'<span class="key">{keys[v]}<span>{escape(looks[v].label)}</span></span>' for v in shown}


def _cell(run, variant, key):
    _, path, write = COLUMNS[key]
    if path is None:
        return escape(formats.number(quantity(run, variant, key)))
    return unbroken(write(run.mean(variant, path), run.std(variant, path)))


def unbroken(text):
    """`60.68 ± 1.05` may only be broken before the ±, and the spread is less loud."""
    mean, sign, std = text.partition(" ± ")
    return escape(mean) + (f' <small>±&nbsp;{escape(std)}</small>' if sign else "")


def _by_deadline(run):
    """A row per deadline, a column per policy."""
    cells, policies, deadlines = {}, [], {}
    for name in run.variants():
        policy, seconds, label = deadline_of(name)
        if policy not in policies:
            policies.append(policy)
        deadlines[float("inf") if seconds is None else seconds] = label or "none"
        cells[policy, label or "none"] = formats.percent(run.mean(name, "metrics.test_accuracy"))
    looks = looks_of(policies)
    head = "".join(f"<th>{escape(looks[policy].label)}</th>" for policy in policies)
    rows = []
    for _, label in sorted(deadlines.items()):
        row = "".join(f'<td>{escape(cells.get((policy, label), ""))}</td>' for policy in policies)
        rows.append(f"<tr><th>{escape(label)}</th>{row}</tr>")
    return (
        '<table class="measured"><caption>Accuracy at the end (%)</caption>'
        f'<thead><tr><th>Deadline</th>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    )
