// The section of a sweep: the answer, response curves, a heat map, paired differences.
{
    // From so many variants on a heat map of variants against one key says more than its lines.
    const MANY_VARIANTS = 6;
    const CURVES = [
        ["time_to_target", "target", "Time to target"],
        ["virtual_seconds", "seconds", "Simulated time"],
        ["chi2", "chi2", "χ²: how unequally clients are heard"],
        ["bytes", "bytes", "Bytes sent, up and down"],
    ];

    const several = (dimension) => dimension.values.length > 1;
    const named = (measures) => measures.map((measure) => [measure.key, measure.label]);

    const plainly = (metrics) => metrics.map(({ key }) => [key, G.metric(key).label]);

    // The final metric, with a choice where there are several.
    function metricCurves(sweep, view, id, metrics) {
        const state = { measure: metrics[0] };
        const choice = G.choice("metric", plainly(metrics), metrics[0].key, (key) => {
            state.measure = metrics.find((measure) => measure.key === key);
            chart.forget();
            chart.refresh();
        });
        const chart = G.sweepCurves(sweep, view, {
            id: `${id}-metric`,
            title: "Final metric",
            measure: () => state.measure,
            controls: metrics.length > 1 ? [choice] : [],
        });
        return chart;
    }

    function allCurves(sweep, view, id) {
        const metrics = sweep.measures.filter((measure) => measure.kind === "metric");
        const charts = metrics.length ? [metricCurves(sweep, view, id, metrics)] : [];
        for (const [key, part, title] of CURVES) {
            // How long it took is the question where nothing was trained.
            if (key === "virtual_seconds" && metrics.length) continue;
            const measure = sweep.measures.find((one) => one.key === key);
            if (!measure) continue;
            charts.push(
                G.sweepCurves(sweep, view, { id: `${id}-${part}`, title, measure: () => measure }),
            );
        }
        return charts;
    }

    function curves(sweep, id) {
        const view = G.firstView(sweep);
        const root = G.el("div", { class: "sweep-curves" });
        view.light = G.lighter(root);
        const charts = allCurves(sweep, view, id);
        if (charts.length === 0) return null;
        const sheet = G.el(
            "div",
            {},
            charts.map((chart) => chart.node),
        );
        const legend = G.el("div", {});
        const change = (role) => {
            if (role) renew();
            sheet.className = view.panels ? "" : "pair";
            charts.forEach((chart) => chart.refresh());
        };
        const renew = () => {
            view.hidden = new Set();
            legend.replaceChildren(...[G.lineLegend(view, change)].filter(Boolean));
        };
        const roles = { x: "below", lines: "lines", panels: "panels" };
        const controls = G.axisControls(sweep, view, roles, change);
        change("lines");
        root.append(
            G.el("h3", {}, "Response curves"),
            G.text(explained(sweep), "note"),
            controls,
            legend,
            sheet,
        );
        return root;
    }

    function explained({ combinations, measures }) {
        const seeds = Math.max(0, ...combinations.map((one) => one.runs.length));
        const missing = combinations.some((one) =>
            measures.some((measure) => G.cellOf(one, measure).missing.length > 0),
        );
        const stops = combinations.some((one) =>
            one.runs.some((run) => run.stopped_by === "target"),
        );
        return [
            seeds > 1
                ? "Marks are means over seeds, whiskers 95\u00a0% intervals (Student's t), dots " +
                  "the seeds. With many lines, point at one to see its whiskers and dots."
                : "Marks are single runs: with one seed there is no interval.",
            missing
                ? "A cross in the strip on top: a seed has no value there (it did not reach the " +
                  "target, or diverged), so there is no mean."
                : "",
            stops && measures.some((measure) => measure.kind === "metric")
                ? "Runs stop at the target; final metrics, χ² and bytes are those of that moment."
                : "",
        ]
            .filter(Boolean)
            .join(" ");
    }

    function map(sweep, id) {
        const all = sweep.dimensions.filter(several);
        const keys = sweep.keys.filter(several);
        const worth = keys.length > 1 || sweep.variants.length >= MANY_VARIANTS;
        if (all.length < 2 || !sweep.main || !worth) return null;
        const view = { x: all[0], y: all[1], fixed: G.bestPlace(sweep), measure: sweep.main };
        const measure = G.choice("measure", named(sweep.measures), view.measure.key, (key) => {
            view.measure = sweep.measures.find((one) => one.key === key);
            chart.refresh();
        });
        const axes = G.axisControls(sweep, view, { x: "across", y: "down" }, () => chart.refresh());
        const chart = G.sweepMap(sweep, `${id}-map`, () => view, [measure, axes]);
        return chart.node;
    }

    // What the letters on the axes stand for.
    function letters({ keys }) {
        const entry = (name, text) =>
            G.el("div", {}, G.el("dt", {}, name), text && G.el("dd", {}, G.el("code", {}, text)));
        return keys
            .filter((key) => key.long)
            .map(({ label, values }) =>
                G.el(
                    "dl",
                    { class: "letters" },
                    entry(`${label}:`),
                    values.map((value) => entry(value.short, value.text)),
                ),
            );
    }

    G.sweepSection = (sweep, index, count) => {
        const id = index === 0 ? "sweep" : `sweep-${index + 1}`;
        const [sentence, ...more] = G.sweepAnswer(sweep);
        return G.section(
            id,
            count > 1 ? `The sweep in ${sweep.folder.folder}` : "The sweep",
            G.el("p", { class: "sentence" }, sentence),
            more.filter(Boolean).map((text) => G.text(text, "second")),
            letters(sweep),
            sweep.finished
                ? [curves(sweep, id), map(sweep, id), G.sweepPairs(sweep)].filter(Boolean)
                : [],
        );
    };
}
