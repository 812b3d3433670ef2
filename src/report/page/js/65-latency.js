// How long clients take: percentile curves on the axis of HdrHistogram's plots, and the usual few.
{
    const PHASES = [
        ["round", "whole round, asked to back"],
        ["download", "download"],
        ["compute", "compute"],
        ["upload", "upload"],
        ["staleness", "staleness of the model"],
        ["idle", "idle, until asked again"],
    ];
    const COLUMNS = [
        ["p50", "p50"],
        ["p90", "p90"],
        ["p99", "p99"],
        ["p999", "p99.9"],
        ["max", "max"],
    ];
    const EVERYBODY = "everybody";
    const APART = "every class, apart";

    const classOf = (run, name) =>
        name === EVERYBODY ? null : (run.classes ?? []).findIndex((c) => c.name === name);
    const entries = (variant, phase, name) =>
        variant.runs
            .map((run) =>
                (run.latency ?? []).find(
                    (e) => e.phase === phase && (e.class ?? null) === classOf(run, name),
                ),
            )
            .filter((entry) => entry && entry.count > 0);

    // The maximum stands where one of so many stands: at 1 − 1/count.
    function curve({ curve: points = [], count }) {
        const inner = points.filter(([q]) => q < 1).map(([q, s]) => [G.nines(q), s]);
        const last = points.find(([q]) => q >= 1);
        const before = inner.length ? inner[inner.length - 1][0] : 0;
        if (last) inner.push([Math.max(before + 0.01, Math.log10(Math.max(1, count))), last[1]]);
        return { x: inner.map(([x]) => x), y: inner.map(([, s]) => s) };
    }

    function lineOf(variant, phase, name, look) {
        const found = entries(variant, phase, name);
        return { ...look, entries: found, points: G.merge(found.map(curve)) };
    }

    function linesOf(variants, classes, { phase, who }) {
        if (who !== APART) return variants.map((variant) => lineOf(variant, phase, who, variant));
        return variants.flatMap((variant) =>
            classes.map((one) =>
                lineOf(variant, phase, one.name, {
                    name: variants.length > 1 ? `${one.name}, ${variant.name}` : one.name,
                    colour: one.colour,
                    dash: variants.length > 1 ? variant.dash : one.dash,
                    mark: variants.length > 1 ? variant.mark : one.mark,
                }),
            ),
        );
    }

    function table(lines) {
        const mean = (list, key) =>
            list.length ? G.sum(list.map((e) => e[key] ?? 0)) / list.length : null;
        const row = (line) =>
            G.el(
                "tr",
                { "data-series-name": line.name },
                G.el("th", { scope: "row" }, G.swatch(line), " ", line.name),
                G.el(
                    "td",
                    {},
                    line.entries.length ? G.number(G.sum(line.entries.map((e) => e.count))) : "–",
                ),
                COLUMNS.map(([key]) =>
                    G.el("td", { "data-column": key }, G.duration(mean(line.entries, key))),
                ),
            );
        return G.el(
            "table",
            { class: "percentiles" },
            G.el(
                "thead",
                {},
                G.el(
                    "tr",
                    {},
                    ["", "count", ...COLUMNS.map(([, title]) => title)].map((title) =>
                        G.el("th", { scope: "col" }, title),
                    ),
                ),
            ),
            G.el("tbody", {}, lines.map(row)),
        );
    }

    G.latencySection = ({ variants }, classes) => {
        const has = (phase) =>
            variants.some((variant) => entries(variant, phase, EVERYBODY).length);
        const phases = PHASES.filter(([phase]) => has(phase));
        if (phases.length === 0) return null;
        const busy = phases.filter(([phase]) =>
            variants.some((v) => entries(v, phase, EVERYBODY).some((e) => e.max > 0)),
        );
        const state = { phase: (busy[0] ?? phases[0])[0], who: EVERYBODY, log: null };
        const lines = () => linesOf(variants, classes, state);
        const box = G.el("div", { class: "scroll", tabindex: 0 });
        const update = () => {
            chart.refresh();
            box.replaceChildren(table(lines()));
        };
        const canLog = (all) => all.some((line) => line.points.some((p) => p.y > 0));
        const wide = (all) => {
            const range = G.range(
                all.flatMap((line) => line.points.map((p) => p.y)).filter((y) => y > 0),
            );
            return range && range[1] / range[0] > 30;
        };
        const toggle = G.toggle("logarithmic", false, (on) => {
            state.log = on;
            update();
        });
        const whom = [
            EVERYBODY,
            ...classes.map((c) => c.name),
            ...(classes.length > 1 && classes.length * variants.length <= 12 ? [APART] : []),
        ];
        const chart = G.lineChart({
            id: "latency",
            title: "Latency by percentile",
            note: "A curve at 99 % shows how long all but the slowest hundredth took. Every further nine takes the same room.",
            controls: [
                G.choice("phase", phases, state.phase, (phase) => {
                    state.phase = phase;
                    update();
                }),
                whom.length > 2
                    ? G.choice(
                          "of",
                          whom.map((name) => [name, name]),
                          state.who,
                          (who) => {
                              state.who = who;
                              update();
                          },
                      )
                    : null,
                toggle,
            ],
            lines: () => {
                const all = lines();
                const log = (state.log ?? wide(all)) && canLog(all);
                toggle.querySelector("input").checked = Boolean(log);
                const scale = G.percentiles(G.end(all));
                return {
                    x: {
                        scale,
                        grid: true,
                        label: "percentile of clients' rounds (%)",
                        name: "percentile",
                        format: G.percentileOf,
                    },
                    y: {
                        scale: G.fit(all, { log, zero: true }),
                        label: "duration",
                        format: (v) => G.duration(v, 3),
                        exact: (v) => G.duration(v, 5),
                    },
                    lines: all,
                };
            },
        });
        box.append(table(lines()));
        return G.section(
            "latency",
            "How long clients take",
            chart.node,
            box,
            G.severalSeeds(variants)
                ? G.text("Percentiles are means over seeds, counts are sums.", "note")
                : null,
        );
    };
}
