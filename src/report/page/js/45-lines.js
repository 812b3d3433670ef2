// Lines with bands: the mean over seeds, and how far the seeds lie apart.
{
    // spec: what a figure needs, and lines() → { x, y, lines: [{ name, look…, points }], marks, events }
    function lineChart(spec) {
        const data = () => spec.lines();
        return G.figure({
            height: (width, print) =>
                Math.round(Math.max(240, Math.min(380, width * (print ? 0.4 : 0.56)))),
            ...spec,
            series: () => data().lines,
            draw: (stage) => draw(stage, data()),
            alt: () => spec.alt?.(data()) ?? sentence(spec, data()),
            table: () => table(data()),
        });
    }

    // With y.zero a logarithmic axis has a place for what is not above it.
    function draw(stage, { x, y, events = [], marks = [], lines }) {
        const shown = stage.shown.filter((line) => line.points.length > 0);
        if (lines.every((line) => line.points.length === 0)) return G.nothing(stage);
        const plain = G.frame(stage, { x, y, events });
        const area = y.zero
            ? { ...plain, py: (value) => (value > y.zero ? plain.py(value) : plain.zero) }
            : plain;
        for (const mark of marks) goal(stage, area, y, mark);
        const clipped = shown.map((line) => ({
            ...line,
            points: y.scale.log && !y.zero ? line.points.filter((p) => p.y > 0) : line.points,
        }));
        const sheet = clip(stage, area);
        // Many bands on top of each other must not hide the lines.
        const veil = clipped.length < 3 ? 0.18 : clipped.length < 5 ? 0.13 : 0.09;
        clipped.forEach((line) => band(sheet, area, y, line, veil));
        const inside = clipped.map((line) => ({
            ...line,
            points: line.points.filter((p) => p.x <= x.scale.hi * (1 + 1e-9)),
        }));
        clipped.forEach((line, i) => stroke(stage, sheet, area, line, inside[i].points));
        return reader(area, { x, y, events }, inside);
    }

    // Lines may go on beyond the part of the axis that is shown.
    let clips = 0;
    function clip(stage, area) {
        clips += 1;
        const box = {
            x: area.left - 2,
            y: 0,
            width: area.right - area.left + 4,
            height: stage.height,
        };
        const sheet = G.svg("g", { "clip-path": `url(#clip-${clips})` });
        stage.svg.append(G.svg("clipPath", { id: `clip-${clips}` }, G.svg("rect", box)), sheet);
        return sheet;
    }

    function goal(stage, area, y, { value, label }) {
        if (value < y.scale.lo || value > y.scale.hi || (y.scale.log && value <= 0)) return;
        const at = area.py(value);
        stage.svg.append(
            G.svg("line", { class: "goal", x1: area.left, x2: area.right, y1: at, y2: at }),
            G.svg(
                "text",
                { class: "goal", x: area.right - 2, y: at - 5, "text-anchor": "end" },
                label,
            ),
        );
    }

    const place = (area, x, y) =>
        `${area.px(x).toFixed(1)} ${Math.max(-9999, Math.min(9999, area.py(y))).toFixed(1)}`;

    function band(sheet, area, y, line, veil) {
        const wide = line.points.filter((p) => p.hi > p.lo);
        if (wide.length === 0) return;
        const floor = (value) => (y.scale.log && !y.zero && !(value > 0) ? y.scale.lo : value);
        const over = line.points.map((p) => place(area, p.x, floor(p.hi)));
        const under = line.points.map((p) => place(area, p.x, floor(p.lo))).reverse();
        sheet.append(
            G.svg("path", {
                class: "band",
                opacity: veil,
                fill: line.colour,
                d: `M${over.join("L")}L${under.join("L")}Z`,
            }),
        );
    }

    function stroke(stage, sheet, area, line, inside) {
        if (inside.length === 0) return;
        const ends = line.points.map((p) => place(area, p.x, p.y));
        sheet.append(
            G.svg("path", {
                class: "line",
                stroke: line.colour,
                "stroke-dasharray": line.dash || null,
                d: `M${ends.join("L")}`,
            }),
        );
        const dots = inside.length <= 12 ? inside : inside.slice(-1);
        stage.svg.append(
            G.marks(
                dots.map((p) => [area.px(p.x), area.py(p.y)]),
                line,
                3.6,
            ),
        );
    }

    function nearest(points, x) {
        let [lo, hi] = [0, points.length - 1];
        while (hi - lo > 1) {
            const middle = (lo + hi) >> 1;
            if (points[middle].x <= x) lo = middle;
            else hi = middle;
        }
        return Math.abs(points[hi].x - x) < Math.abs(points[lo].x - x) ? points[hi] : points[lo];
    }

    function reader(area, { x, y, events }, lines) {
        const drawn = lines.filter((line) => line.points.length > 0);
        const xs = G.unique(drawn.flatMap((line) => line.points.map((p) => p.x)))
            .sort((a, b) => a - b)
            .map((at) => ({ x: at }));
        const span = x.scale.hi - x.scale.lo;
        return {
            stops: G.thin(xs, 400).map((p) => [area.px(p.x), (area.top + area.bottom) / 2]),
            at(px, py) {
                if (xs.length === 0 || px < area.left - 12 || px > area.right + 12) return null;
                const value = x.scale.lo + ((px - area.left) / (area.right - area.left)) * span;
                const at = nearest(xs, value).x;
                const found = drawn.map((line) => ({ line, point: nearest(line.points, at) }));
                return {
                    x: area.px(at),
                    y: py,
                    title: `${x.name ?? x.label}: ${(x.exact ?? x.format)(at)}`,
                    rows: found.map(({ line, point }) => row(line, point, at, x, y)),
                    foot: events
                        .filter((e) => e.at <= at && at <= (e.until ?? Infinity))
                        .map((e) => `${e.number}  ${e.what}`),
                    cursor: cursor(area, at, found),
                };
            },
        };
    }

    function row(line, point, at, x, y) {
        const show = y.exact ?? ((v) => G.number(v, 6));
        const spread = point.hi > point.lo ? `${show(point.lo)} to ${show(point.hi)}` : "";
        const elsewhere = point.x === at ? "" : `at ${(x.exact ?? x.format)(point.x)}`;
        return {
            look: line,
            name: line.name,
            value: show(point.y),
            note: [spread, elsewhere].filter(Boolean).join(", "),
        };
    }

    function cursor(area, at, found) {
        return [
            G.svg("line", { x1: area.px(at), x2: area.px(at), y1: area.top, y2: area.bottom }),
            ...found.map(({ line, point }) =>
                G.svg("circle", {
                    cx: area.px(point.x),
                    cy: area.py(point.y),
                    r: 4,
                    fill: line.colour,
                }),
            ),
        ];
    }

    function sentence(spec, { x, y, lines }) {
        const ends = lines
            .filter((line) => line.points.length > 0)
            .map((line) => {
                const last = line.points[line.points.length - 1];
                return `${line.name} ends at ${(y.exact ?? G.number)(last.y)}`;
            });
        return `${spec.title}: ${y.label} against ${x.label}; ${ends.join(", ") || "no values"}.`;
    }

    function table({ x, y, lines }) {
        const spread = lines.some((line) => line.points.some((p) => p.n > 1));
        const show = y.exact ?? ((v) => G.number(v, 6));
        return {
            head: [
                "series",
                x.name ?? x.label,
                y.label,
                ...(spread ? ["smallest", "largest"] : []),
            ],
            rows: lines.flatMap((line) =>
                line.points.map((p) => [
                    line.name,
                    (x.exact ?? x.format)(p.x),
                    show(p.y),
                    ...(spread ? [show(p.lo), show(p.hi)] : []),
                ]),
            ),
        };
    }

    // A scale that holds all points, and starts at 0 where that costs little.
    function fit(lines, { log = false, zero = false, more = [] } = {}) {
        const values = [
            ...lines.flatMap((line) => line.points.flatMap((p) => [p.y, p.lo, p.hi])),
            ...more,
        ].filter((v) => G.isNumber(v) && (!log || v > 0));
        const range = G.range(values) ?? [log ? 0.1 : 0, 1];
        if (log) return G.log(range[0], range[1], { nice: true });
        const low =
            zero || (range[0] > 0 && range[0] < 0.4 * range[1]) ? Math.min(0, range[0]) : range[0];
        return G.linear(low, range[1], { nice: true });
    }

    const end = (lines) => G.range(lines.flatMap((line) => line.points.map((p) => p.x)))?.[1] ?? 1;
    Object.assign(G, { lineChart, fit, end });
}
