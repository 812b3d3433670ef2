// Local steps τ as the rounds go on, and the section of both charts.
{
    // The band holds the smallest and the largest τ of a round, over all seeds.
    function overRounds(variants) {
        const points = (variant, eff) => {
            const of = (key) =>
                // Who has ended makes no more steps.
                G.merge(
                    variant.runs.map((run) => ({ x: run.rounds?.round, y: run.rounds?.[key] })),
                    { hold: false },
                );
            if (eff) return of("tau_eff");
            const [low, high] = [of("tau_min"), of("tau_max")];
            return of("tau_mean").map((p, i) => ({
                ...p,
                lo: low[i]?.lo ?? p.lo,
                hi: high[i]?.hi ?? p.hi,
            }));
        };
        const state = { eff: false };
        const chart = G.lineChart({
            id: "tau-rounds",
            title: "Local steps by round",
            note: "Mean of the updates used; the band reaches from the smallest to the largest.",
            controls: [
                G.choice(
                    "show",
                    [
                        ["tau", "τ: mean, min to max"],
                        ["eff", "effective steps τ_eff"],
                    ],
                    "tau",
                    (what) => {
                        state.eff = what === "eff";
                        chart.refresh();
                    },
                ),
            ],
            lines: () => {
                const lines = variants.map((variant) => ({
                    ...variant,
                    points: points(variant, state.eff),
                }));
                return {
                    x: G.xRounds(G.end(lines) || 1),
                    y: {
                        scale: G.fit(lines, { zero: true }),
                        label: state.eff ? "effective steps τ_eff" : "local steps τ",
                        format: (v) => G.brief(v),
                        exact: (v) => G.number(v, 5),
                    },
                    lines,
                };
            },
        });
        return chart.node;
    }

    G.tauSection = ({ variants }, classes) => {
        const told = variants.filter((v) =>
            v.runs.some((run) => (run.tau ?? []).some((entry) => entry.count > 0)),
        );
        const rounds = variants.some((v) => v.runs.some((run) => run.rounds?.round?.length));
        if (told.length === 0 && !rounds) return null;
        return G.section(
            "tau",
            "How many local steps they make",
            G.el(
                "div",
                { class: "pair" },
                told.length ? G.tauByClass(told, classes) : null,
                rounds ? overRounds(variants) : null,
            ),
        );
    };
}
