// The timeline: what some of the slowest, median and fastest clients did in a window of rounds.
{
    const ROW = 28;
    const PHASES = [
        { name: "download", colour: "var(--download)", fill: true },
        { name: "compute", colour: "var(--used)", fill: true },
        { name: "upload", colour: "var(--upload)", fill: true },
    ];
    const KINDS = ["fastest", "median", "slowest"];
    const OUTCOMES = { no_step: "no step fitted", unfinished: "unfinished" };

    // One after the other, as far as a client got.
    function slices(part) {
        let at = part.at ?? 0;
        return PHASES.map(({ name }) => {
            const slice = { name, from: at, to: at + (part[name] ?? 0) };
            at = slice.to;
            return slice;
        }).filter((slice) => slice.to > slice.from);
    }

    function draw(stage, run, events) {
        const { lanes } = run;
        const clients = [...lanes.clients].sort(
            (a, b) => KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind),
        );
        const label = (c) =>
            stage.width < 560
                ? `${c.client} ${c.kind}`
                : `${c.client} · ${run.classes?.[c.class]?.name ?? "–"} · ${c.kind}`;
        const left = Math.min(
            stage.width * 0.36,
            20 + Math.max(...clients.map((c) => label(c).length)) * 6.5,
        );
        const area = { left, right: stage.width - 16, top: 26, bottom: 26 + clients.length * ROW };
        const scale = G.linear(lanes.from ?? 0, lanes.to, { time: true });
        const px = (value) =>
            area.left + Math.max(0, Math.min(1, scale.at(value))) * (area.right - area.left);
        axis(stage, area, scale, px, lanes, events);
        const rows = clients.map((client, i) =>
            row(stage, area, client, label(client), area.top + i * ROW, px),
        );
        return reader(area, rows, run, scale);
    }

    function axis(stage, area, scale, px, lanes, events) {
        const layer = G.svg("g", { class: "axes" });
        for (const tick of scale.ticks(Math.max(2, Math.floor((area.right - area.left) / 90)))) {
            layer.append(
                G.svg("line", {
                    class: "tick",
                    x1: px(tick),
                    x2: px(tick),
                    y1: area.bottom,
                    y2: area.bottom + 4,
                }),
                G.svg(
                    "text",
                    { x: px(tick), y: area.bottom + 18, "text-anchor": "middle" },
                    G.timeTick(tick, scale.hi),
                ),
            );
        }
        layer.append(
            G.svg("line", {
                class: "base",
                x1: area.left,
                x2: area.right,
                y1: area.bottom,
                y2: area.bottom,
            }),
            G.svg(
                "text",
                {
                    class: "axis-title",
                    x: (area.left + area.right) / 2,
                    y: area.bottom + 38,
                    "text-anchor": "middle",
                },
                "simulated time",
            ),
        );
        let free = -Infinity;
        for (const [number, at] of lanes.closed ?? []) {
            if (!(at >= scale.lo && at <= scale.hi)) continue;
            layer.append(
                G.svg("line", {
                    class: "closes",
                    x1: px(at),
                    x2: px(at),
                    y1: area.top - 4,
                    y2: area.bottom,
                }),
            );
            if (px(at) < free) continue;
            layer.append(
                G.svg(
                    "text",
                    { class: "closes", x: px(at), y: area.top - 9, "text-anchor": "middle" },
                    String(number),
                ),
            );
            free = px(at) + 26;
        }
        for (const event of events) {
            if (event.at < scale.lo || event.at > scale.hi) continue;
            layer.append(
                G.svg(
                    "g",
                    { class: "event" },
                    G.svg("line", {
                        x1: px(event.at),
                        x2: px(event.at),
                        y1: area.top,
                        y2: area.bottom,
                    }),
                    G.svg("circle", { cx: px(event.at), cy: area.bottom, r: 8 }),
                    G.svg(
                        "text",
                        { x: px(event.at), y: area.bottom, dy: "0.34em", "text-anchor": "middle" },
                        String(event.number),
                    ),
                ),
            );
        }
        stage.svg.append(layer);
    }

    function row(stage, area, client, label, top, px) {
        stage.svg.append(
            G.svg(
                "text",
                {
                    class: "row-label",
                    x: area.left - 8,
                    y: top + ROW / 2,
                    dy: "0.32em",
                    "text-anchor": "end",
                },
                label,
            ),
            G.svg("line", {
                class: "grid",
                x1: area.left,
                x2: area.right,
                y1: top + ROW / 2,
                y2: top + ROW / 2,
            }),
        );
        const shown = new Map(stage.shown.map((one) => [one.name, { one, used: "", lost: "" }]));
        for (const part of client.parts ?? []) {
            for (const slice of slices(part)) {
                const paths = shown.get(slice.name);
                if (!paths) continue;
                const [x0, x1] = [px(slice.from), px(slice.to)];
                if (x1 <= area.left || x0 >= area.right) continue;
                paths[part.outcome === "used" ? "used" : "lost"] +=
                    `M${x0.toFixed(1)} ${top + 5}h${Math.max(0.8, x1 - x0 - 0.4).toFixed(1)}v${ROW - 10}H${x0.toFixed(1)}z`;
            }
        }
        for (const { one, used, lost } of shown.values()) {
            if (used) stage.svg.append(G.svg("path", { d: used, fill: one.colour }));
            if (lost)
                stage.svg.append(
                    G.svg("path", { d: lost, fill: one.colour, "fill-opacity": 0.45 }),
                    G.svg("path", { d: lost, fill: "url(#hatch)" }),
                );
        }
        return { client, top };
    }

    function reader(area, rows, run, scale) {
        const toX = (value) => area.left + scale.at(value) * (area.right - area.left);
        const length = (part) => (part.download ?? 0) + (part.compute ?? 0) + (part.upload ?? 0);
        return {
            stops: rows.flatMap(({ client, top }) =>
                (client.parts ?? []).map((part) => [
                    toX(part.at + length(part) / 2),
                    top + ROW / 2,
                ]),
            ),
            at(px, py) {
                const found = rows.find(({ top }) => py >= top && py < top + ROW);
                if (!found || px < area.left - 4) return null;
                const part = (found.client.parts ?? []).find(
                    (p) => toX(p.at) - 2 <= px && px <= toX(p.at + length(p)) + 2,
                );
                const name = `client ${found.client.client}, ${run.classes?.[found.client.class]?.name ?? "–"}`;
                if (!part) return { title: name, foot: ["not at work"] };
                return {
                    y: found.top + ROW / 2,
                    title: `${name}: round ${part.round}`,
                    rows: PHASES.map((one) => ({
                        look: one,
                        name: one.name,
                        value: G.duration(part[one.name]),
                    })),
                    foot: [
                        `asked at ${G.duration(part.at, 5)}`,
                        `${G.plural(part.tau ?? 0, "step")}, ${OUTCOMES[part.outcome] ?? part.outcome}`,
                    ],
                    cursor: [
                        G.svg("rect", {
                            class: "frame",
                            x: toX(part.at),
                            y: found.top + 3,
                            width: Math.max(2, toX(part.at + length(part)) - toX(part.at)),
                            height: ROW - 6,
                        }),
                    ],
                };
            },
        };
    }

    G.lanesSection = ({ variants }, events) => {
        const told = variants.filter((v) =>
            v.runs.some(
                (run) => run.lanes?.clients?.length && run.lanes.to > (run.lanes.from ?? 0),
            ),
        );
        if (told.length === 0) return null;
        const runs = (variant) => variant.runs.find((run) => run.lanes?.clients?.length);
        const state = { variant: told[0] };
        const chart = G.figure({
            id: "lanes",
            title: "A window of rounds",
            keepLegend: true,
            note: "Hatched: the update was not used. Thin lines: a round closes; its number is above.",
            controls:
                told.length > 1
                    ? [
                          G.choice(
                              "variant",
                              told.map((v) => [String(v.index), v.name]),
                              String(state.variant.index),
                              (index) => {
                                  state.variant = told.find((v) => String(v.index) === index);
                                  chart.refresh();
                              },
                          ),
                      ]
                    : [],
            series: () => PHASES,
            height: () => 72 + runs(state.variant).lanes.clients.length * ROW,
            draw: (stage) => draw(stage, runs(state.variant), events),
            alt: () => {
                const { clients, from, to } = runs(state.variant).lanes;
                const who = `${G.plural(clients.length, "client")} with ${state.variant.name}`;
                return `Timeline of ${who}, from ${G.duration(from)} to ${G.duration(to)}.`;
            },
            table: () => ({
                head: [
                    "client",
                    "class",
                    "kind",
                    "round",
                    "asked at",
                    "download",
                    "compute",
                    "upload",
                    "τ",
                    "outcome",
                ],
                rows: runs(state.variant).lanes.clients.flatMap((c) =>
                    (c.parts ?? []).map((p) => [
                        String(c.client),
                        runs(state.variant).classes?.[c.class]?.name ?? "–",
                        c.kind,
                        String(p.round),
                        G.duration(p.at, 6),
                        G.duration(p.download),
                        G.duration(p.compute),
                        G.duration(p.upload),
                        G.number(p.tau),
                        p.outcome,
                    ]),
                ),
            }),
        });
        return G.section("lanes", "What clients did", chart.node);
    };
}
