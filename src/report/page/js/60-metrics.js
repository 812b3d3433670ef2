// The metric against simulated time and against rounds.
{
    function linesOf(variants, metric, axis) {
        return variants.map((variant) => ({
            ...variant,
            points: G.merge(
                variant.runs.map((run) => ({
                    x: run.curves?.[axis],
                    y: run.curves?.values?.[metric],
                })),
            ),
        }));
    }

    // Ten decades below the largest value there is nothing but rounding: on a logarithmic axis that is
    // zero, and has its place at the foot.
    const NOTHING = 1e-10;
    const values = (lines) => lines.flatMap((line) => line.points.flatMap((p) => [p.lo, p.hi]));
    const canLog = (lines) => {
        const range = G.range(values(lines));
        return Boolean(range) && range[0] >= 0 && range[1] > 0;
    };
    function logScale(lines, more) {
        const all = [...values(lines), ...more];
        const floor = G.range(all)[1] * NOTHING;
        const above = G.range(all.filter((value) => value > floor));
        const zero = all.some((value) => value <= floor) ? floor : 0;
        return { scale: G.log(...above, { nice: true }), zero, spread: above[1] / above[0] };
    }

    // A target's line is drawn where it belongs, and kept on the chart.
    function targets(folders, metric) {
        return folders
            .filter((folder) => folder.target?.metric === metric)
            .slice(0, 1)
            .map(({ target }) => ({
                value: target.at_least ?? target.at_most,
                label: `target ${G.goalOf(target).slice(G.metric(metric).label.length + 1)}`,
            }));
    }

    G.metricSection = ({ folders, variants }, metrics, events) => {
        if (variants.length === 0) return null;
        if (metrics.length === 0)
            return G.section(
                "metrics",
                "Progress",
                G.text(
                    folders.every((folder) => folder.summary.timing_only)
                        ? "Nothing was trained in this run (timing only), so there are no metrics to show."
                        : "No metric was measured before the run ended.",
                    "note",
                ),
            );
        const state = { metric: metrics[0], log: false, until: null };
        const cache = {};
        const lines = (axis) =>
            (cache[`${state.metric} ${axis}`] ??= linesOf(variants, state.metric, axis));
        const mayLog = () => !G.metric(state.metric).up && canLog(lines("round"));
        const suits = () => mayLog() && logScale(lines("round"), []).spread > 50;
        const charts = [];
        const box = G.toggle("logarithmic", false, (on) => {
            state.log = on;
            charts.forEach((chart) => chart.refresh());
        });
        const update = () => {
            state.log = suits();
            box.hidden = !mayLog();
            box.querySelector("input").checked = state.log;
            charts.forEach((chart) => chart.refresh());
        };
        const chart = (id, title, axis, x) =>
            G.lineChart({
                id,
                title,
                lines: () => {
                    const all = lines(axis);
                    const marks = targets(folders, state.metric);
                    const more = marks.map((mark) => mark.value);
                    const y = state.log ? logScale(all, more) : { scale: G.fit(all, { more }) };
                    return {
                        x: x((axis === "time" && state.until) || G.end(all) || 1),
                        y: {
                            ...y,
                            label: G.metric(state.metric).label,
                            format: (v) => G.brief(v),
                        },
                        lines: all,
                        marks,
                        events: axis === "time" ? events : [],
                    };
                },
            });
        charts.push(
            chart("metric-time", "Against simulated time", "time", G.xTime),
            chart("metric-rounds", "Against rounds", "round", G.xRounds),
        );
        update();
        const until = G.until(lines("time"), (end) => {
            state.until = end;
            charts[0].refresh();
        });
        const selector =
            metrics.length > 1
                ? G.choice(
                      "metric",
                      metrics.map((name) => [name, G.metric(name).label]),
                      state.metric,
                      (name) => {
                          state.metric = name;
                          update();
                      },
                  )
                : null;
        return G.section(
            "metrics",
            "Progress",
            G.severalSeeds(variants)
                ? G.text(
                      "Lines are means over seeds, bands reach from the smallest to the largest seed. A run that has ended keeps its last value.",
                      "note",
                  )
                : null,
            G.el("div", { class: "controls" }, selector, box, until),
            G.el(
                "div",
                { class: "pair" },
                charts.map((c) => c.node),
            ),
        );
    };
}
