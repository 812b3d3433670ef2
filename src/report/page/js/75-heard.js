// Who is heard: every client's share of the data against its part in the model's movement.
{
    const HEAD = 22;

    const runOf = (variant, seed) =>
        variant.runs.find((run) => run.seed === seed) ?? variant.runs[0];

    // Clients and counted cells in one form; who was never heard has w = 0.
    function itemsOf(run) {
        const { points, cells } = run.heard ?? {};
        if (cells)
            return cells.map(([p0, p1, w0, w1, count, kind]) => ({ p0, p1, w0, w1, count, kind }));
        return (points ?? [])
            .map(([p, w, kind, client]) => ({ p0: p, p1: p, w0: w, w1: w, count: 1, kind, client }))
            .filter((item) => G.isNumber(item.p0) && G.isNumber(item.w0));
    }

    // One scale for both axes of all panels, so that the diagonal is at 45° and panels compare.
    function scaleOf(panels) {
        const values = panels.flatMap(({ items }) =>
            items.flatMap((i) => [i.p0, i.p1, i.w0, i.w1]),
        );
        const range = G.range(values.filter((v) => v > 0)) ?? [0.1, 1];
        const log = range[1] / range[0] > 20;
        // A single stray client far below would push all others into a corner.
        const low = Math.max(range[0], range[1] * 1e-6);
        const zero = log && values.some((v) => v < low);
        return {
            zero,
            log,
            low,
            make: () => (log ? G.log(low / 1.15, range[1] * 1.15) : G.linear(0, range[1] * 1.05)),
        };
    }

    // On paper panels are smaller, so that all of them share a page.
    function layout(width, count, print) {
        const most = print && count > 9 ? 4 : count === 2 ? 2 : 3;
        const columns = Math.max(1, Math.min(count, most, Math.floor(width / (print ? 170 : 290))));
        const side = Math.min(count === 1 ? 460 : 400, width / columns);
        return { columns, width: width / columns, side, height: side + HEAD + 8 };
    }

    function draw(stage, panels) {
        if (panels.every(({ items }) => items.length === 0)) return G.nothing(stage);
        const plan = layout(stage.width, panels.length, stage.print);
        const scale = scaleOf(panels);
        const drawn = panels.map((panel, i) => {
            const left = (i % plan.columns) * plan.width;
            const top = Math.floor(i / plan.columns) * plan.height;
            return drawPanel(
                stage,
                panel,
                scale,
                {
                    left,
                    top: top + HEAD,
                    width: Math.min(plan.width, plan.side + 40),
                    height: plan.side,
                },
                panels.length > 1,
            );
        });
        return reader(drawn);
    }

    function drawPanel(stage, panel, scale, box, titled) {
        if (titled)
            stage.svg.append(
                G.svg(
                    "text",
                    { class: "row-head", x: box.left + 4, y: box.top - 8 },
                    panel.variant.name,
                ),
            );
        const format = (v) => G.brief(v);
        const axis = (label) => ({ scale: scale.make(), label, format, zero: scale.zero });
        const area = G.frame(stage, {
            x: axis("share of the data p"),
            y: axis("effective weight ŵ"),
            box,
        });
        const { lo, hi } = scale.make();
        stage.svg.append(
            G.svg("line", {
                class: "fair",
                x1: area.px(lo),
                y1: area.py(lo),
                x2: area.px(hi),
                y2: area.py(hi),
            }),
            G.svg(
                "text",
                { class: "fair", x: area.px(hi) - 26, y: area.py(hi) + 16, "text-anchor": "end" },
                "fair",
            ),
        );
        const at = {
            x: (v) => area.px(scale.log ? Math.max(v, scale.low) : v),
            y: (v) => (scale.log && v < scale.low ? area.zero - 5 : area.py(v)),
        };
        const placed = stage.shown.flatMap((one) => place(stage, panel, one, at));
        return { panel, area, placed };
    }

    function place(stage, panel, one, at) {
        const mine = panel.items.filter((item) => panel.className(item.kind) === one.name);
        if (panel.cells) return mine.map((item) => cell(stage, panel, one, item, at));
        const placed = mine.map((item) => ({
            item,
            one,
            x: at.x(item.p0),
            y: at.y(item.w0),
            half: 0,
        }));
        stage.svg.append(
            G.marks(
                placed.map(({ x, y }) => [x, y]),
                one,
                placed.length > 300 ? 2.2 : 3.6,
                { class: "points" },
            ),
        );
        return placed;
    }

    // The darker, the more clients.
    function cell(stage, panel, one, item, at) {
        const [x0, x1] = [at.x(item.p0), at.x(item.p1)];
        const [y1, y0] = [at.y(item.w0), at.y(item.w1)];
        const [width, height] = [Math.max(4, x1 - x0), Math.max(5, y1 - y0)];
        const box = { x: (x0 + x1 - width) / 2, y: (y0 + y1 - height) / 2, width, height };
        const dense = Math.log1p(item.count) / Math.log1p(panel.most);
        stage.svg.append(
            G.svg("rect", { ...box, fill: one.colour, "fill-opacity": 0.12 + 0.78 * dense }),
        );
        return {
            item,
            one,
            x: box.x + width / 2,
            y: box.y + height / 2,
            half: Math.max(width, height) / 2,
        };
    }

    function reader(panels) {
        const all = panels.flatMap(({ placed, panel }) =>
            placed.map((spot) => ({ ...spot, panel })),
        );
        return {
            stops: G.thin(all, 400).map(({ x, y }) => [x, y]),
            at(px, py) {
                let best = null;
                let near = 24;
                for (const spot of all) {
                    const far = Math.hypot(spot.x - px, spot.y - py) - spot.half;
                    if (far < near) [best, near] = [spot, far];
                }
                return best && found(best);
            },
        };
    }

    function found({ item, one, panel, x, y }) {
        const span = (a, b) =>
            a === b ? G.number(a, 5) : `${G.number(a, 3)} to ${G.number(b, 3)}`;
        const ratio =
            item.w0 === 0 && item.w1 === 0
                ? "never heard"
                : item.client === undefined
                  ? ""
                  : `heard ${G.trimmed(item.w0 / item.p0, 3)} times its share`;
        return {
            x,
            y,
            title: `${panel.variant.name}: ${item.client === undefined ? G.plural(item.count, "client") : `client ${item.client}`}`,
            rows: [
                { look: { ...one, line: false }, name: one.name, value: "" },
                { name: "share of the data p", value: span(item.p0, item.p1) },
                { name: "effective weight ŵ", value: span(item.w0, item.w1) },
            ],
            foot: ratio ? [ratio] : [],
            cursor: [G.svg("circle", { class: "frame", cx: x, cy: y, r: 8 })],
        };
    }

    function silence({ variant, items, clients }) {
        const silent = G.sum(items.filter((item) => item.w1 === 0).map((item) => item.count));
        return `${variant.name} never heard ${G.number(silent)} of ${G.number(clients)} clients`;
    }

    function heard(variants, classes) {
        const told = variants.filter((v) => v.runs.some((run) => itemsOf(run).length > 0));
        if (told.length === 0) return null;
        const seeds = G.unique(told.flatMap((v) => v.runs.map((run) => run.seed)));
        const state = { seed: seeds[0] };
        const panels = () =>
            told.map((variant) => {
                const run = runOf(variant, state.seed);
                const items = itemsOf(run);
                return {
                    variant,
                    items,
                    cells: Boolean(run.heard?.cells),
                    most: Math.max(1, ...items.map((i) => i.count)),
                    clients: run.heard?.clients ?? items.length,
                    className: (kind) => run.classes?.[kind]?.name ?? "mixed",
                };
            });
        const series = () => {
            const names = G.unique(
                panels().flatMap((panel) => panel.items.map((item) => panel.className(item.kind))),
            );
            const mixed = { name: "mixed", colour: "var(--muted)", mark: "circle", dash: "" };
            return [...classes, mixed]
                .filter((one) => names.includes(one.name))
                .map((one) =>
                    panels()[0].cells ? { ...one, fill: true } : { ...one, line: false },
                );
        };
        const grouped = panels().some((panel) => panel.cells);
        const chart = G.figure({
            id: "heard",
            title: "Share of the data against weight in the model",
            keepLegend: true,
            note:
                `Each mark is ${grouped ? "a group of clients, the darker the more of them" : "a client"}. ` +
                "On the diagonal it counts by its share of the data; above it counts for more, " +
                "below for less; at 0 it was never heard.",
            controls:
                seeds.length > 1
                    ? [
                          G.choice(
                              "seed",
                              seeds.map((seed) => [String(seed), String(seed)]),
                              String(state.seed),
                              (seed) => {
                                  state.seed = seeds.find((one) => String(one) === seed);
                                  chart.refresh();
                              },
                          ),
                      ]
                    : [],
            series,
            height: (width, print) => {
                const plan = layout(width, told.length, print);
                return Math.ceil(told.length / plan.columns) * plan.height;
            },
            draw: (stage) => draw(stage, panels()),
            alt: () =>
                "Effective weight of every client against its share of the data: " +
                `${panels().map(silence).join(", ")}.`,
            table: () => ({
                head: [
                    "variant",
                    "client",
                    "class",
                    "share of the data p",
                    "effective weight ŵ",
                    "clients",
                ],
                rows: panels().flatMap((p) =>
                    p.items.map((i) => [
                        p.variant.name,
                        i.client === undefined ? "" : String(i.client),
                        p.className(i.kind),
                        i.p0 === i.p1
                            ? G.number(i.p0, 5)
                            : `${G.number(i.p0, 3)} to ${G.number(i.p1, 3)}`,
                        i.w0 === i.w1
                            ? G.number(i.w0, 5)
                            : `${G.number(i.w0, 3)} to ${G.number(i.w1, 3)}`,
                        G.number(i.count),
                    ]),
                ),
            }),
        });
        chart.node.dataset.panels = told.length;
        return chart.node;
    }

    G.heard = heard;
}
