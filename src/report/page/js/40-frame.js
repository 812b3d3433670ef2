// Axes, grid and the marks of events: what every chart with an x and a y has.
{
    const LETTER = 6.4;
    const widest = (labels) => Math.max(0, ...labels.map((text) => text.length)) * LETTER;

    // x and y: { scale, label, format }. Returns the plot's box and where values are in it.
    function frame(stage, { x, y, events = [], box = null }) {
        const whole = box ?? { left: 0, top: 0, width: stage.width, height: stage.height };
        const yTicks = y.scale.ticks(Math.max(2, Math.floor(whole.height / 55)));
        const yLabels = yTicks.map(y.format);
        const zero = y.zero ? 20 : 0;
        const area = {
            left: whole.left + 26 + Math.max(20, widest(yLabels)),
            right: whole.left + whole.width - 16,
            top: whole.top + (events.length ? 26 : 10),
            bottom: whole.top + whole.height - 42 - zero,
        };
        const px = (value) => area.left + x.scale.at(value) * (area.right - area.left);
        const py = (value) => area.bottom - y.scale.at(value) * (area.bottom - area.top);
        const layer = G.svg("g", { class: "axes" });
        stage.svg.append(layer);
        yTicks.forEach((tick, i) => horizontal(layer, area, py(tick), yLabels[i]));
        if (zero) horizontal(layer, area, area.bottom + zero, "0");
        vertical(layer, area, x, px, zero);
        titles(layer, area, whole, x, y);
        flags(stage, area, px, x.scale, events);
        return { ...area, px, py, zero: area.bottom + zero };
    }

    function horizontal(layer, area, at, label) {
        layer.append(
            G.svg("line", { class: "grid", x1: area.left, x2: area.right, y1: at, y2: at }),
            G.svg("text", { x: area.left - 8, y: at, dy: "0.32em", "text-anchor": "end" }, label),
        );
    }

    // Labels that would run into each other are left out.
    function vertical(layer, area, x, px, zero) {
        const ticks = x.scale.ticks(Math.max(2, Math.floor((area.right - area.left) / 68)));
        let free = -Infinity;
        for (const tick of ticks) {
            const at = px(tick);
            const label = x.format(tick);
            if (x.grid)
                layer.append(
                    G.svg("line", { class: "grid", x1: at, x2: at, y1: area.top, y2: area.bottom }),
                );
            const half = (label.length * LETTER) / 2;
            layer.append(
                G.svg("line", {
                    class: "tick",
                    x1: at,
                    x2: at,
                    y1: area.bottom + zero,
                    y2: area.bottom + zero + 4,
                }),
            );
            if (at - half < free) continue;
            layer.append(
                G.svg(
                    "text",
                    {
                        x: Math.min(at, area.right + 14 - half),
                        y: area.bottom + zero + 17,
                        "text-anchor": "middle",
                    },
                    label,
                ),
            );
            free = at + half + 6;
        }
        layer.append(
            G.svg("line", {
                class: "base",
                x1: area.left,
                x2: area.right,
                y1: area.bottom + zero,
                y2: area.bottom + zero,
            }),
        );
    }

    function titles(layer, area, whole, x, y) {
        const middle = (area.top + area.bottom) / 2;
        layer.append(
            G.svg(
                "text",
                {
                    class: "axis-title",
                    x: (area.left + area.right) / 2,
                    y: whole.top + whole.height - 6,
                    "text-anchor": "middle",
                },
                x.label,
            ),
            G.svg(
                "text",
                {
                    class: "axis-title",
                    transform: `translate(${whole.left + 11} ${middle}) rotate(-90)`,
                    "text-anchor": "middle",
                },
                y.label,
            ),
        );
    }

    // A numbered flag where something happens, a veil for as long as it lasts.
    function flags(stage, area, px, scale, events) {
        let free = -Infinity;
        for (const event of events) {
            if (event.at > scale.hi || (event.until ?? event.at) < scale.lo) continue;
            const from = px(Math.max(scale.lo, event.at));
            const layer = G.svg("g", { class: "event" });
            if (G.isNumber(event.until)) {
                const to = px(Math.min(scale.hi, event.until));
                layer.append(
                    G.svg("rect", {
                        x: from,
                        y: area.top,
                        width: Math.max(1, to - from),
                        height: area.bottom - area.top,
                    }),
                );
            }
            const flag = Math.max(from, free);
            layer.append(
                G.svg("line", { x1: from, x2: from, y1: area.top, y2: area.bottom }),
                G.svg("circle", { cx: flag, cy: area.top - 12, r: 8 }),
                G.svg(
                    "text",
                    { x: flag, y: area.top - 12, dy: "0.34em", "text-anchor": "middle" },
                    String(event.number),
                ),
            );
            free = flag + 18;
            stage.svg.append(layer);
        }
    }

    G.frame = frame;
    G.xTime = (hi, lo = 0) => ({
        scale: G.linear(lo, hi, { time: true }),
        label: "simulated time",
        format: (v) => G.timeTick(v, hi),
        exact: (v) => G.duration(v, 6),
    });
    G.xRounds = (hi, lo = 0) => ({
        scale: G.linear(lo, hi, { whole: true }),
        label: "rounds (aggregations)",
        format: (v) => G.number(v),
    });

    G.nothing = (stage) => {
        stage.svg.append(
            G.svg(
                "text",
                {
                    class: "nothing",
                    x: stage.width / 2,
                    y: stage.height / 2,
                    "text-anchor": "middle",
                },
                "nothing to show",
            ),
        );
        return null;
    };
}
