// χ² and the share of the data that was never heard, as the run goes on.
{
    const WHAT = { chi2: "χ² of those heard", missing_mass: "never heard, share of the data" };
    // Below this it is rounding, and a logarithm would show nothing else.
    const TINY = 1e-9;

    function chi2(variants, events) {
        const state = { what: "chi2", log: null, until: null };
        const linesOf = () =>
            variants.map((variant) => ({
                ...variant,
                points: G.merge(
                    variant.runs.map((run) => ({
                        x: run.rounds?.time,
                        y: run.rounds?.[state.what],
                    })),
                ),
            }));
        if (linesOf().every((line) => line.points.length === 0)) return null;
        const positive = (lines) =>
            lines.flatMap((line) => line.points.map((p) => p.y)).filter((y) => y > TINY);
        const wide = (lines) => {
            const range = G.range(positive(lines));
            return state.what === "chi2" && range && range[1] / range[0] > 50;
        };
        const toggle = G.toggle("logarithmic", false, (on) => {
            state.log = on;
            chart.refresh();
        });
        const chart = G.lineChart({
            id: "chi2",
            title: "Consistency over time",
            note: "Zero means that the model moves as if everybody counted by their data.",
            controls: [
                G.choice("show", Object.entries(WHAT), "chi2", (what) => {
                    Object.assign(state, { what, log: null });
                    chart.refresh();
                }),
                toggle,
                G.until(linesOf(), (end) => {
                    state.until = end;
                    chart.refresh();
                }),
            ],
            lines: () => {
                const lines = linesOf();
                const log = Boolean((state.log ?? wide(lines)) && positive(lines).length > 0);
                toggle.querySelector("input").checked = log;
                const values = positive(lines);
                const share = state.what === "missing_mass";
                return {
                    x: G.xTime(state.until ?? (G.end(lines) || 1)),
                    y: {
                        scale: log
                            ? G.log(...G.range(values), { nice: true })
                            : G.fit(lines, { zero: true }),
                        zero: log ? TINY : 0,
                        label: WHAT[state.what],
                        format: share ? (v) => G.percent(v) : (v) => G.brief(v),
                        exact: share ? (v) => G.percent(v, 5) : undefined,
                    },
                    lines,
                    events,
                };
            },
        });
        return chart.node;
    }

    G.heardSection = ({ variants }, classes, events) => {
        const parts = [G.heard(variants, classes), chi2(variants, events)].filter(Boolean);
        return parts.length ? G.section("heard", "Who is heard", parts) : null;
    };
}
