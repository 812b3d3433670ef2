// Lying stacked bars, one row for every variant and class.
{
    const ROW = 22;
    const HEAD = 26;

    // spec.rows() → [{ head: "variant" } | { label, total, parts: { series: value }, say }]
    function barChart(spec) {
        const height = () =>
            52 + G.sum(spec.rows().map((row) => (row.head === undefined ? ROW : HEAD)));
        return G.figure({
            ...spec,
            height,
            draw: (stage) => draw(stage, spec),
            table: () => table(spec),
        });
    }

    function draw(stage, spec) {
        const rows = spec.rows();
        const bars = rows.filter((row) => row.head === undefined);
        if (bars.length === 0) return G.nothing(stage);
        const names = Math.max(...bars.map((row) => row.label.length));
        const left = Math.min(stage.width * 0.34, 24 + names * 6.6);
        const area = { left, right: stage.width - 18, top: 4, bottom: stage.height - 42 };
        const scale = G.linear(0, spec.full ? 1 : longest(bars, stage.shown) || 1, {
            nice: !spec.full,
        });
        const px = (value) => area.left + scale.at(value) * (area.right - area.left);
        axis(stage, area, scale, px, spec);
        return reader(area, place(stage, rows, area, px), stage.shown, spec);
    }

    const longest = (bars, shown) =>
        Math.max(
            ...bars.map(
                (row) => G.sum(shown.map((s) => row.parts[s.name] ?? 0)) / (row.total || 1),
            ),
        );

    function axis(stage, area, scale, px, spec) {
        const layer = G.svg("g", { class: "axes" });
        for (const tick of scale.ticks(Math.max(2, Math.floor((area.right - area.left) / 62)))) {
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
                    G.percent(tick),
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
                spec.axis,
            ),
        );
        stage.svg.append(layer);
    }

    function place(stage, rows, area, px) {
        const bars = [];
        let y = area.top;
        for (const row of rows) {
            if (row.head !== undefined) {
                stage.svg.append(
                    G.svg("text", { class: "row-head", x: 4, y: y + HEAD - 8 }, row.head),
                );
                y += HEAD;
                continue;
            }
            stage.svg.append(
                clip(
                    row.label,
                    area.left - 18,
                    G.svg("text", {
                        class: "row-label",
                        x: area.left - 8,
                        y: y + ROW / 2,
                        dy: "0.32em",
                        "text-anchor": "end",
                    }),
                ),
            );
            let from = 0;
            for (const one of stage.shown) {
                const part = (row.parts[one.name] ?? 0) / (row.total || 1);
                if (!(part > 0)) continue;
                const box = {
                    x: px(from),
                    y: y + 3,
                    width: Math.max(0.75, px(from + part) - px(from)),
                    height: ROW - 6,
                };
                stage.svg.append(G.svg("rect", { ...box, fill: one.colour }));
                if (one.hatch) stage.svg.append(G.svg("rect", { ...box, fill: "url(#hatch)" }));
                from += part;
            }
            bars.push({ row, y });
            y += ROW;
        }
        return bars;
    }

    function clip(label, room, node) {
        const letters = Math.max(3, Math.floor(room / 6.4));
        node.append(label.length > letters ? `${label.slice(0, letters - 1)}…` : label);
        return node;
    }

    function reader(area, bars, shown, spec) {
        return {
            stops: bars.map(({ y }) => [(area.left + area.right) / 2, y + ROW / 2]),
            at(px, py) {
                const bar = bars.find(({ y }) => py >= y && py < y + ROW);
                if (!bar) return null;
                const { row, y } = bar;
                return {
                    x: px,
                    y: y + ROW / 2,
                    title: row.title,
                    rows: shown.map((one) => ({
                        look: one,
                        name: one.name,
                        value: G.percent((row.parts[one.name] ?? 0) / (row.total || 1)),
                        note: spec.unit(row.parts[one.name] ?? 0),
                    })),
                    foot: [`${spec.whole} ${spec.unit(row.total)}`],
                    cursor: [
                        G.svg("rect", {
                            class: "frame",
                            x: area.left,
                            y: y + 1,
                            width: area.right - area.left,
                            height: ROW - 2,
                        }),
                    ],
                };
            },
        };
    }

    function table(spec) {
        const series = spec.series();
        return {
            head: ["", ...series.map((one) => one.name), spec.whole],
            rows: spec
                .rows()
                .filter((row) => row.head === undefined)
                .map((row) => [
                    row.title,
                    ...series.map((one) => spec.unit(row.parts[one.name] ?? 0)),
                    spec.unit(row.total),
                ]),
        };
    }

    // Variants that have several classes get a headline each; otherwise a row says it all.
    G.barRows = (variants, of) =>
        variants.flatMap((variant) => {
            const rows = of(variant);
            if (rows.length === 0) return [];
            if (rows.length === 1 && variants.length > 1)
                return [
                    { ...rows[0], label: variant.name, title: `${variant.name}, ${rows[0].label}` },
                ];
            const named = rows.map((row) => ({
                ...row,
                title: variants.length > 1 ? `${variant.name}, ${row.label}` : row.label,
            }));
            return variants.length > 1 ? [{ head: variant.name }, ...named] : named;
        });

    G.barChart = barChart;
}
