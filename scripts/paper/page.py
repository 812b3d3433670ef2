"""The whole page, runs/paper/index.html: one file that needs no network and no script."""

import pathlib
from html import escape

import formats
from panels import GROUPS, PANELS
from section import section, verdict
from table_one import table_one

STYLE = pathlib.Path(__file__).with_name("style.css")

HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>FedNova’s experiments, run again</title>
<link rel="icon" href="data:,">
"""

LEDE = (
    "The experiments of <cite>Tackling the Objective Inconsistency Problem in Heterogeneous Federated "
    "Optimization</cite> (FedNova, NeurIPS 2020), run again by Gruppetto, each from one scenario file, and "
    "a few that go beyond the paper. A scenario says what it expects to come out; below every figure is "
    "whether it did."
)


def page(runs, said, stale, chosen, others):
    """By name of the panel: the runs, what failed ones said, those whose scenario has changed since,
    and the variants that theory would choose. `others` are scenarios that are not run for this page."""
    parts = [
        HEAD,
        f'<style>\n{STYLE.read_text(encoding="utf-8")}</style>\n</head>\n<body>\n<main>\n',
        _top(runs),
        _overview(runs),
    ]
    for group in GROUPS:
        parts.append(f"<section><h2>{escape(group.title)}</h2><p>{escape(group.text)}</p>")
        if group.table_one:
            parts.append(table_one(runs))
        for panel in group.panels:
            name = panel.name
            failed = said.get(name, "")
            parts.append(section(panel, runs.get(name), failed, name in stale, chosen.get(name)))
        parts.append("</section>\n")
    parts.append(_gpu(others))
    parts.append(_foot(runs))
    parts.append("</main>\n</body>\n</html>\n")
    return "".join(parts)


def _top(runs):
    here = [runs[panel.name] for panel in PANELS if panel.name in runs]
    expected = [e for run in here for e in run.expectations if not e.get("skipped")]
    met = sum(bool(e.get("ok")) for e in expected)
    took = formats.duration(sum(run.seconds for run in here))
    counted = (
        f"{len(here)} of {len(PANELS)} scenarios were run here, in {took} altogether. "
        f"{met} of {formats.count(len(expected), 'expectation')} are met."
    )
    return (
        '<header class="top"><p class="eyebrow">Gruppetto</p><h1>FedNova’s experiments, run again</h1>'
        f'<p class="lede">{LEDE} <strong>{escape(counted)}</strong></p></header>'
    )


def _overview(runs):
    rows = []
    total = 0.0
    for group in GROUPS:
        rows.append(f'<tr class="group"><th colspan="3">{escape(group.title)}</th></tr>')
        if group.table_one:
            rows.append('<tr><th><a href="#table-1">Table 1</a></th><td></td><td></td></tr>')
        for panel in group.panels:
            run = runs.get(panel.name)
            mark, words = verdict(run)
            total += run.seconds if run else 0.0
            rows.append(
                f'<tr><th><a href="#{escape(panel.name)}">{escape(panel.title)}</a></th>'
                f'<td class="verdict {mark}">{escape(words)}</td>'
                f"<td>{escape(formats.duration(run.seconds)) if run else formats.NOTHING}</td></tr>"
            )
    rows.append(f'<tr class="total"><th>Total</th><td></td><td>{escape(formats.duration(total))}</td></tr>')
    return (
        '<table class="overview">'
        "<thead><tr><th>Panel</th><th>Expectations met</th><th>Time</th></tr></thead>"
        f'<tbody>{"".join(rows)}</tbody></table>'
    )


def _gpu(others):
    listed = f": {', '.join(others)}" if others else ""
    return (
        "<section><h2>With a GPU</h2><p>The paper’s own setting, VGG-11 for 100 rounds, takes a GPU and is "
        "not run for this page. Its scenarios are in <code>scenarios/paper/</code> too"
        f"{escape(listed)}. Once these are run, their numbers appear in Table 1:</p>"
        "<pre>gruppetto run scenarios/paper/table-1-fixed.toml --out runs/paper/table-1-fixed\n"
        "gruppetto run scenarios/paper/table-1-random.toml --out runs/paper/table-1-random\n"
        "gruppetto run scenarios/paper/figure-8-left.toml --out runs/paper/figure-8-left</pre></section>"
    )


def _foot(runs):
    versions = sorted({str(run.summary.get("version", "")) for run in runs.values()} - {""})
    made = f" by Gruppetto {escape(', '.join(versions))}" if versions else ""
    return f"<footer>Made{made} with <code>make paper</code>.</footer>"
