// Local steps τ: how many the clients of a class make.
{
    const ROW = 58;

    // Steps as counts per whole number; bins that are wider spread theirs evenly over the axis.
    function binsOf(variant, name) {
        const bins = new Map();
        const all = [];
        let count = 0;
        let weighted = 0;
        for (const run of variant.runs) {
            for (const entry of run.tau ?? []) {
                if (run.classes?.[entry.class]?.name !== name) continue;
                count += entry.count;
                weighted += entry.count * (entry.mean ?? 0);
                all.push(...(entry.bins ?? []));
            }
        }
        // Seeds may have bins of different widths, which fit into each other: the widest holds all.
        const width = Math.max(1, ...all.map(([lo, hi]) => hi - lo + 1));
        for (const [from, , n] of all) {
            const lo = Math.floor(from / width) * width;
            bins.set(lo, { lo, hi: lo + width - 1, n: (bins.get(lo)?.n ?? 0) + n });
        }
        return {
            count,
            mean: count ? weighted / count : null,
            bins: [...bins.values()].sort((a, b) => a.lo - b.lo),
        };
    }

    // A row for every class; the area of a bar is its share of the class's updates.
    function ridges(stage, classes, variant) {
        const rows = stage.shown.map((one) => ({ one, ...binsOf(variant, one.name) }));
        const range = G.range(rows.flatMap((row) => row.bins.flatMap((b) => [b.lo, b.hi])));
        if (!range) return G.nothing(stage);
        const wide = range[0] >= 1 && range[1] / range[0] > 60;
        // A few different numbers of steps still make slim bars.
        const pad = Math.max(0.5, (12 - (range[1] - range[0])) / 2);
        const [lo, hi] = [Math.max(0, range[0] - pad), range[1] + pad];
        const scale = wide ? G.log(Math.max(0.5, lo), hi) : G.linear(lo, hi, { whole: true });
        const names = Math.max(...rows.map((row) => row.one.name.length));
        const area = {
            left: Math.min(stage.width * 0.3, 30 + names * 6.6),
            right: stage.width - 16,
            top: 8,
            bottom: stage.height - 42,
        };
        const px = (value) => area.left + scale.at(value) * (area.right - area.left);
        axis(stage, area, scale, px);
        const height = (area.bottom - area.top) / rows.length;
        const bars = rows.flatMap((row, i) =>
            ridge(stage, area, row, area.top + (i + 1) * height, height, px),
        );
        return reader(area, bars);
    }

    function axis(stage, area, scale, px) {
        const layer = G.svg("g", { class: "axes" });
        const ticks = scale
            .ticks(Math.max(2, Math.floor((area.right - area.left) / 46)))
            .filter((tick) => Number.isInteger(tick));
        for (const tick of ticks) {
            layer.append(
                G.svg("line", {
                    class: "grid",
                    x1: px(tick),
                    x2: px(tick),
                    y1: area.top,
                    y2: area.bottom,
                }),
                G.svg(
                    "text",
                    { x: px(tick), y: area.bottom + 17, "text-anchor": "middle" },
                    G.number(tick),
                ),
            );
        }
        layer.append(
            G.svg(
                "text",
                {
                    class: "axis-title",
                    x: (area.left + area.right) / 2,
                    y: stage.height - 6,
                    "text-anchor": "middle",
                },
                "local steps τ of an update",
            ),
            G.svg(
                "text",
                {
                    class: "axis-title",
                    transform: `translate(11 ${(area.top + area.bottom) / 2}) rotate(-90)`,
                    "text-anchor": "middle",
                },
                "share of updates",
            ),
        );
        stage.svg.append(layer);
    }

    function ridge(stage, area, { one, bins, count, mean }, base, height, px) {
        const bars = bins.map((bin) => {
            const [x0, x1] = [px(Math.max(0.5, bin.lo - 0.5)), px(bin.hi + 0.5)];
            return { bin, one, count, mean, base, x0, x1, dense: bin.n / Math.max(0.01, x1 - x0) };
        });
        const top = Math.max(...bars.map((bar) => bar.dense), 1e-12);
        for (const bar of bars) {
            bar.y = base - (bar.dense / top) * (height - 14);
            const gap = bar.x1 - bar.x0 > 4 ? 0.5 : 0;
            stage.svg.append(
                G.svg("rect", {
                    x: bar.x0 + gap,
                    y: bar.y,
                    width: Math.max(0.8, bar.x1 - bar.x0 - 2 * gap),
                    height: base - bar.y,
                    fill: one.colour,
                }),
            );
        }
        stage.svg.append(
            G.svg("line", { class: "base", x1: area.left, x2: area.right, y1: base, y2: base }),
            G.svg(
                "text",
                { class: "row-label", x: area.left - 8, y: base - 6, "text-anchor": "end" },
                one.name,
            ),
        );
        if (mean !== null)
            stage.svg.append(G.svg("path", { class: "mean", d: `M${px(mean)} ${base}l-5 8h10z` }));
        return bars;
    }

    function reader(area, bars) {
        return {
            stops: bars.map((bar) => [(bar.x0 + bar.x1) / 2, (bar.y + bar.base) / 2]),
            at(px, py) {
                const inRow = bars.filter(
                    (bar) => py <= bar.base && px >= bar.x0 - 1 && px <= bar.x1 + 1,
                );
                const bar = inRow.sort((a, b) => a.base - b.base)[0];
                if (!bar) return null;
                const { lo, hi, n } = bar.bin;
                return {
                    x: (bar.x0 + bar.x1) / 2,
                    y: bar.y,
                    title: `τ ${lo === hi ? `= ${G.number(lo)}` : `${G.number(lo)} to ${G.number(hi)}`}`,
                    rows: [
                        {
                            look: { ...bar.one, fill: true },
                            name: bar.one.name,
                            value: G.percent(n / bar.count),
                            note: G.plural(n, "update"),
                        },
                    ],
                    foot: [
                        `mean τ of the class ${G.number(bar.mean)}, ${G.plural(bar.count, "update")}`,
                    ],
                    cursor: [
                        G.svg("rect", {
                            class: "frame",
                            x: bar.x0,
                            y: bar.y,
                            width: bar.x1 - bar.x0,
                            height: bar.base - bar.y,
                        }),
                    ],
                };
            },
        };
    }

    function byClass(variants, classes) {
        const state = { variant: variants[0] };
        const series = () =>
            classes
                .filter((one) => binsOf(state.variant, one.name).count > 0)
                .map((one) => ({ ...one, fill: true }));
        const chart = G.figure({
            id: "tau-class",
            title: "Local steps by class",
            note: "Updates used. The small triangle is the mean.",
            keepLegend: true,
            controls:
                variants.length > 1
                    ? [
                          G.choice(
                              "variant",
                              variants.map((v) => [String(v.index), v.name]),
                              String(state.variant.index),
                              (index) => {
                                  state.variant = variants.find((v) => String(v.index) === index);
                                  chart.refresh();
                              },
                          ),
                      ]
                    : [],
            series,
            height: (width, print) =>
                Math.max(
                    50 + series().length * ROW,
                    print ? 0 : Math.min(320, Math.round(width * 0.56)),
                ),
            draw: (stage) => ridges(stage, classes, state.variant),
            alt: () =>
                `Distribution of local steps with ${state.variant.name}: ${series()
                    .map(
                        (one) =>
                            `${one.name} makes ${G.number(binsOf(state.variant, one.name).mean)} on average`,
                    )
                    .join(", ")}.`,
            table: () => ({
                head: ["variant", "class", "τ from", "to", "updates"],
                rows: variants.flatMap((v) =>
                    classes.flatMap((one) =>
                        binsOf(v, one.name).bins.map((b) => [
                            v.name,
                            one.name,
                            G.number(b.lo),
                            G.number(b.hi),
                            G.number(b.n),
                        ]),
                    ),
                ),
            }),
        });
        return chart.node;
    }

    G.tauByClass = byClass;
}
