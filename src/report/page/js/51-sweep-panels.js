// Small multiples: panels of one size with one y axis for all of them, and the swept values below
// each.
{
    const LETTER = 6.4;
    const NARROW = 170;
    const WIDE = 250;
    const MANY = 4;
    const HEAD = 22;
    const FOOT = 44;
    const GAP = 14;
    // Where marks stand that have no number: above the scale, for a time that was not reached.
    const STRIP = 26;
    const ZERO = 20;

    // How many panels stand beside each other, and how large they are.
    function plan(width, count, print) {
        const least = count > MANY || print ? NARROW : WIDE;
        const fit = Math.max(1, Math.min(count, 5, Math.floor(width / least)));
        // Rows that are as even as they can be.
        const columns = Math.ceil(count / Math.ceil(count / fit));
        const inner = width / columns;
        const height =
            count === 1
                ? Math.max(240, Math.min(340, width * (print ? 0.4 : 0.56)))
                : Math.max(150, Math.min(230, inner * 0.62)) + HEAD;
        return { columns, rows: Math.ceil(count / columns), panel: Math.round(height) };
    }

    G.panelsHeight = (width, count, print) => {
        const { rows, panel } = plan(width, count, print);
        return rows * (panel + FOOT);
    };

    // The boxes of all panels; x is { dimension, scale }, y is { scale, format, label, strip, zero
    // }: with zero a logarithmic axis has a place at the foot for what is not above it.
    G.panels = (stage, titles, x, y) => {
        const { columns, panel } = plan(stage.width, titles.length, stage.print);
        const ticks = y.scale.ticks(Math.max(2, Math.floor(panel / 48)));
        const labels = ticks.map(y.format);
        const letters = Math.max(4, (y.strip ?? "").length, ...labels.map((text) => text.length));
        const room = 30 + letters * LETTER;
        const width = (stage.width - room - 8 - GAP * (columns - 1)) / columns;
        return titles.map((title, i) => {
            const [column, row] = [i % columns, Math.floor(i / columns)];
            const left = room + column * (width + GAP);
            const top = row * (panel + FOOT) + (titles.length > 1 ? HEAD : 8);
            const plot = top + (y.strip ? STRIP : 0);
            const area = {
                left,
                right: left + width,
                top,
                plot,
                bottom: row * (panel + FOOT) + panel,
            };
            area.px = (value) => left + x.scale.at(value) * width;
            area.foot = area.bottom - (y.zero ? ZERO : 0);
            area.py = (value) =>
                y.zero && value <= y.zero
                    ? area.bottom
                    : area.foot - y.scale.at(value) * (area.foot - plot);
            area.strip = top + 7;
            const last = row === Math.ceil(titles.length / columns) - 1;
            const first = column === 0;
            const head = titles.length > 1 ? title : "";
            draw(stage, area, { title: head, x, y, ticks, labels, first, last });
            return area;
        });
    };

    function draw(stage, area, { title, x, y, ticks, labels, first, last }) {
        const layer = G.svg("g", { class: "axes" });
        stage.svg.append(layer);
        const text = (attributes, words) => layer.append(G.svg("text", attributes, words));
        const line = (kind, x1, y1, x2, y2) =>
            layer.append(G.svg("line", { class: kind, x1, y1, x2, y2 }));
        if (title)
            text(
                { class: "row-head", x: area.left, y: area.top - 8 },
                cut(title, area.right - area.left, 7.2),
            );
        ticks.forEach((tick, i) => {
            const at = area.py(tick);
            line("grid", area.left, at, area.right, at);
            if (first)
                text({ x: area.left - 8, y: at, dy: "0.32em", "text-anchor": "end" }, labels[i]);
        });
        if (y.zero && first)
            text({ x: area.left - 8, y: area.bottom, dy: "0.32em", "text-anchor": "end" }, "0");
        if (y.strip) {
            layer.prepend(
                G.svg("rect", {
                    class: "strip",
                    x: area.left,
                    y: area.top - 2,
                    width: area.right - area.left,
                    height: STRIP - 8,
                }),
            );
            if (first)
                text(
                    { x: area.left - 8, y: area.strip, dy: "0.32em", "text-anchor": "end" },
                    y.strip,
                );
        }
        line("base", area.left, area.bottom, area.right, area.bottom);
        under(area, x, text, line);
        const middle = (area.plot + area.bottom) / 2;
        if (first)
            text(
                {
                    class: "axis-title",
                    transform: `translate(11 ${middle}) rotate(-90)`,
                    "text-anchor": "middle",
                },
                cut(y.label, area.bottom - area.top + 30, LETTER),
            );
        if (last)
            text(
                {
                    class: "axis-title",
                    x: (area.left + area.right) / 2,
                    y: area.bottom + 36,
                    "text-anchor": "middle",
                },
                `${x.dimension.label}${x.scale.log ? " (logarithmic)" : ""}`,
            );
    }

    // Every value of the sweep has its tick. Labels of numbers that would run into each other are
    // left out, those of categories are shortened: each of them is needed.
    function under(area, { dimension, scale }, text, line) {
        const { values, numeric } = dimension;
        const room = (area.right - area.left) / values.length - 4;
        const ordered = [...values].sort((a, b) => scale.at(a) - scale.at(b));
        let free = -Infinity;
        for (const value of ordered) {
            const at = area.px(value);
            line("tick", at, area.bottom, at, area.bottom + 4);
            const label = numeric ? value.short : cut(value.short, room, LETTER);
            const half = (label.length * LETTER) / 2;
            if (numeric && at - half < free) continue;
            text({ x: at, y: area.bottom + 17, "text-anchor": "middle" }, label);
            free = at + half + 5;
        }
    }

    function cut(words, room, letter) {
        const letters = Math.max(2, Math.floor(room / letter));
        return words.length > letters ? `${words.slice(0, letters - 1)}…` : words;
    }
    G.cut = cut;
}
