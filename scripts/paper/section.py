"""One panel as a section of the page: charts, the claim beside the measurement, what was expected."""

from html import escape

import formats
import measured
from figures import figures
from panels import SMALL

# More expectations than this are folded up, unless one of them is not met.
FOLD = 6


def verdict(run, more=""):
    """A class for the style sheet and a few words: are all expectations met? `more` follows a count."""
    if run is None:
        return "absent", "not run here"
    if run.status not in ("complete", "diverged"):
        return "missed", f"✗ {run.status}"
    of = [e for e in run.expectations if not e.get("skipped")]
    met = sum(bool(e.get("ok")) for e in of)
    if not of:
        return "absent", "nothing expected"
    mark, sign = ("met", "✓") if met == len(of) else ("missed", "✗")
    return mark, f"{sign} {met} of {len(of)}{more}"


def command(panel):
    return f"gruppetto run {panel.scenario} --out runs/paper/{panel.name} --force"


def section(panel, run, said, stale, chosen):
    """`said` is what the program said when it failed just now; `stale`: the scenario has changed since."""
    mark, words = verdict(run, " expectations met")
    parts = [
        f'<section class="panel" id="{escape(panel.name)}">',
        f'<header><h3>{escape(panel.title)}</h3><span class="verdict {mark}">{escape(words)}</span></header>',
    ]
    if panel.small:
        parts.append(f'<p class="note">{escape(SMALL)}</p>')
    if said:
        parts.append('<p class="alarm">It failed when it was run for this page:</p>')
        parts.append(f'<pre class="alarm">{escape(said)}</pre>')
    if run is None:
        parts.append(f'{_claim(panel)}<p class="missing">Not run here. This runs it:</p>')
        parts.append(f"<pre>{escape(command(panel))}</pre></section>")
        return "".join(parts)
    if stale:
        parts.append('<p class="note">The scenario has changed since this run was made.</p>')
    drawn, notes = figures(panel, run, chosen)
    caption = f'<p class="caption">{escape(" ".join(notes))}</p>' if notes else ""
    if not drawn:
        caption = '<p class="missing">There is nothing to draw in this run.</p>'
    beside = (
        f"{_claim(panel)}"
        f'<div class="ours"><h4>Measured here</h4>{measured.table(panel, run, chosen)}</div>'
        f"{_found(panel)}"
    )
    if len(panel.charts) > 1:
        parts.append(f'<div class="several of-{len(drawn)}">{"".join(drawn)}</div>{caption}')
        parts.append(f'<div class="compare">{beside}</div>')
    else:
        parts.append(f'<div class="one"><div>{"".join(drawn)}{caption}</div>')
        parts.append(f'<div class="beside">{beside}</div></div>')
    parts.append(_expectations(run))
    parts.append(
        f'<p class="links"><a href="{escape(panel.name)}/report.html">The run’s own report</a> · '
        f"took {escape(formats.duration(run.seconds))} · repeat it with</p>"
        f"<pre>{escape(command(panel))}</pre></section>"
    )
    return "".join(parts)


def _claim(panel):
    head = "The paper says" if panel.folder == "paper" else "The question"
    return f'<div class="claim"><h4>{head}</h4><p>{escape(panel.claim)}</p></div>'


def _found(panel):
    return f'<div class="claim found"><h4>Found</h4><p>{escape(panel.found)}</p></div>' if panel.found else ""


def _expectations(run):
    if not run.expectations:
        return ""
    rows = []
    for one in run.expectations:
        mark, words = ("met", "✓ met") if one.get("ok") else ("missed", "✗ not met")
        if one.get("skipped"):
            mark, words = "absent", "skipped"
        that, value = escape(str(one.get("that", ""))), escape(formats.number(one.get("measured")))
        rows.append(f'<tr><th>{that}</th><td>{value}</td><td class="verdict {mark}">{words}</td></tr>')
    table = (
        '<table class="expectations"><thead><tr><th>Expected</th><th>Measured</th><th></th></tr></thead>'
        f'<tbody>{"".join(rows)}</tbody></table>'
    )
    if len(rows) <= FOLD:
        return table
    missed = any(not one.get("ok") and not one.get("skipped") for one in run.expectations)
    fold = " open" if missed else ""
    return f"<details{fold}><summary>All {len(rows)} expectations</summary>{table}</details>"
