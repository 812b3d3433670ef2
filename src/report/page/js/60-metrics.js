// The metric against simulated time and against rounds.
{
    function linesOf(variants, metric, axis) {
        return variants.map((variant) => ({
            ...variant,
            points: G.merge(variant.runs.map((run) => ({ x: run.curves?.[axis], y: run.curves?.values?.[metric] }))),
        }));
    }

    const positive = (lines) => lines.every((line) => line.points.every((p) => p.lo > 0));
    const ratio = (lines) => {
        const range = G.range(lines.flatMap((line) => line.points.map((p) => p.y)));
        return range ? range[1] / range[0] : 1;
    };

    // A target's line is drawn where it belongs, and kept on the chart.
    function targets(folders, metric) {
        return folders.filter((folder) => folder.target?.metric === metric).slice(0, 1).map(({ target }) => ({
            value: target.at_least ?? target.at_most, label: `target ${G.goalOf(target).slice(G.metric(metric).label.length + 1)}`,
        }));
    }

    G.metricSection = ({ folders, variants }, metrics, events) => {
        if (metrics.length === 0) return G.section("metrics", "Progress", G.text("Nothing was trained in this run (timing only), so there are no metrics to show.", "note"));
        const state = { metric: metrics[0], log: false };
        const cache = {};
        const lines = (axis) => (cache[`${state.metric} ${axis}`] ??= linesOf(variants, state.metric, axis));
        const canLog = () => !G.metric(state.metric).up && positive(lines("round"));
        const suits = () => canLog() && ratio(lines("round")) > 50;
        const charts = [];
        const box = G.toggle("logarithmic", false, (on) => { state.log = on; charts.forEach((chart) => chart.refresh()); });
        const update = () => {
            state.log = suits();
            box.hidden = !canLog();
            box.querySelector("input").checked = state.log;
            charts.forEach((chart) => chart.refresh());
        };
        const chart = (id, title, axis, x) => G.lineChart({
            id, title,
            lines: () => {
                const all = lines(axis);
                const marks = targets(folders, state.metric);
                const scale = G.fit(all, { log: state.log, more: marks.map((mark) => mark.value) });
                return { x: x(G.end(all) || 1), y: { scale, label: G.metric(state.metric).label, format: (v) => G.brief(v) }, lines: all, marks, events: axis === "time" ? events : [] };
            },
        });
        charts.push(
            chart("metric-time", "Against simulated time", "time", G.xTime),
            chart("metric-rounds", "Against rounds", "round", G.xRounds));
        update();
        const selector = metrics.length > 1
            ? G.choice("metric", metrics.map((name) => [name, G.metric(name).label]), state.metric, (name) => { state.metric = name; update(); }) : null;
        return G.section("metrics", "Progress",
            G.severalSeeds(variants) ? G.text("Lines are means over seeds, bands reach from the smallest to the largest seed. A run that has ended keeps its last value.", "note") : null,
            G.el("div", { class: "controls" }, selector, box),
            G.el("div", { class: "pair" }, charts.map((c) => c.node)));
    };
}
