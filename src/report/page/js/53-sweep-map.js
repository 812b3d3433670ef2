// The heat map: a measure over two things that differ, a number in every cell where there is room.
{
    const ROW = 34;
    const LETTER = 6.4;
    const DECADE = 10;
    // From here on the colour is so strong that the text on it needs the other ink; see style.css.
    const STRONG = 0.6;

    // view: { x, y, fixed, measure }
    function gridOf(sweep, { x, y, fixed, measure }) {
        const cells = y.values.flatMap((row) =>
            x.values.map((column) => {
                const place = { ...fixed, [x.key]: column.index, [y.key]: row.index };
                return { row, column, ...G.cellOf(sweep.find(place), measure) };
            }),
        );
        const told = cells.filter((cell) => G.isNumber(cell.mean));
        const range = G.range(told.map((cell) => cell.mean));
        const best = range && (measure.up ? range[1] : range[0]);
        return { cells, range, best: cells.find((cell) => cell.mean === best && range) ?? null };
    }

    // 0 for the worst, 1 for the best. Values above zero that span more than a decade by their
    // logarithm.
    function strengthOf({ range }, measure) {
        if (!range || range[0] === range[1]) return () => 1;
        const log = range[0] > 0 && range[1] / range[0] > DECADE;
        const scale = log ? G.log(...range) : G.linear(...range);
        return (v) => (measure.up ? scale.at(v) : 1 - scale.at(v));
    }

    const colour = (strength) => {
        const share = (100 * strength).toFixed(1);
        return `color-mix(in oklab, var(--map-best) ${share}%, var(--map-worst))`;
    };

    function draw(stage, sweep, view) {
        const grid = gridOf(sweep, view);
        const { x, y, measure } = view;
        if (grid.cells.every((cell) => cell.total === 0)) return G.nothing(stage);
        const strength = strengthOf(grid, measure);
        const names = Math.max(...y.values.map((value) => value.short.length)) * LETTER;
        const left = Math.min(stage.width * 0.34, 34 + names);
        const area = { left, right: stage.width - 4, top: 6, bottom: 6 + y.values.length * ROW };
        const width = (area.right - area.left) / x.values.length;
        const spot = (cell) => ({
            x: area.left + x.values.indexOf(cell.column) * width,
            y: area.top + y.values.indexOf(cell.row) * ROW,
            width,
            height: ROW,
        });
        axes(stage, area, view, width);
        const placed = grid.cells.map((cell) => ({ cell, box: spot(cell) }));
        placed.forEach(({ cell, box }) =>
            square(stage, cell, box, view, strength, cell === grid.best),
        );
        if (grid.best) mark(stage, spot(grid.best));
        legend(stage, area, grid, measure);
        return reader(placed, view);
    }

    function square(stage, cell, box, { measure }, strength, best) {
        const told = G.isNumber(cell.mean);
        const at = told ? strength(cell.mean) : 0;
        const inner = {
            x: box.x + 1,
            y: box.y + 1,
            width: Math.max(1, box.width - 2),
            height: box.height - 2,
        };
        stage.svg.append(
            G.svg(
                "rect",
                {
                    ...inner,
                    class: told ? "map-cell" : "map-cell empty",
                    style: told ? `fill: ${colour(at)}` : null,
                },
            ),
        );
        if (!told) stage.svg.append(G.svg("rect", { ...inner, fill: "url(#hatch)", opacity: 0.5 }));
        const room = (text) => text.length * LETTER < box.width - 6;
        const plain = told ? measure.format(cell.mean) : cell.total ? cell.why : "–";
        const words = best && room(`★ ${plain}`) ? `★ ${plain}` : plain;
        const fits = room(words);
        if (!fits && told) return;
        stage.svg.append(
            G.svg(
                "text",
                {
                    class: told ? (at > STRONG ? "map-text strong" : "map-text") : "map-lack",
                    x: box.x + box.width / 2,
                    y: box.y + box.height / 2,
                    dy: "0.34em",
                    "text-anchor": "middle",
                },
                fits ? words : "–",
            ),
        );
    }

    const mark = (stage, box) =>
        stage.svg.append(
            G.svg(
                "rect",
                {
                    class: "map-frame",
                    x: box.x + 1,
                    y: box.y + 1,
                    width: box.width - 2,
                    height: box.height - 2,
                },
            ),
        );

    function axes(stage, area, { x, y }, width) {
        const text = (attributes, words) => stage.svg.append(G.svg("text", attributes, words));
        y.values.forEach((value, i) =>
            text(
                {
                    class: "row-label",
                    x: area.left - 8,
                    y: area.top + (i + 0.5) * ROW,
                    dy: "0.34em",
                    "text-anchor": "end",
                },
                G.cut(value.short, area.left - 30, LETTER),
            ),
        );
        x.values.forEach((value, i) =>
            text(
                {
                    class: "row-label",
                    x: area.left + (i + 0.5) * width,
                    y: area.bottom + 17,
                    "text-anchor": "middle",
                },
                G.cut(value.short, width - 2, LETTER),
            ),
        );
        text(
            {
                class: "axis-title",
                x: (area.left + area.right) / 2,
                y: area.bottom + 37,
                "text-anchor": "middle",
            },
            x.label,
        );
        text(
            {
                class: "axis-title",
                transform: `translate(11 ${(area.top + area.bottom) / 2}) rotate(-90)`,
                "text-anchor": "middle",
            },
            G.cut(y.label, area.bottom - area.top + 20, LETTER),
        );
    }

    // Worst to best, as the colours go.
    function legend(stage, area, { range }, measure) {
        if (!range) return;
        const top = area.bottom + 52;
        const width = Math.min(220, area.right - area.left - 120);
        const left = area.left + 50;
        const steps = 24;
        const [worst, best] = measure.up ? range : [range[1], range[0]];
        for (let i = 0; i < steps; i += 1)
            stage.svg.append(
                G.svg("rect", {
                    x: left + (i * width) / steps,
                    y: top,
                    width: width / steps + (i + 1 < steps ? 1 : 0),
                    height: 10,
                    style: `fill: ${colour(range[0] === range[1] ? 1 : (i + 0.5) / steps)}`,
                }),
            );
        const text = (x, anchor, words) =>
            stage.svg.append(G.svg("text", { x, y: top + 9, "text-anchor": anchor }, words));
        text(left - 6, "end", measure.format(worst));
        text(left + width + 6, "start", `${measure.format(best)} (best)`);
    }

    function reader(placed, { x, y, measure }) {
        const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2];
        return {
            stops: placed.map(({ box }) => middle(box)),
            at(px, py) {
                const found = placed.find(
                    ({ box }) =>
                        px >= box.x &&
                        px < box.x + box.width &&
                        py >= box.y &&
                        py < box.y + box.height,
                );
                if (!found) return null;
                const { cell, box } = found;
                const told = G.isNumber(cell.mean);
                return {
                    x: box.x + box.width / 2,
                    y: box.y + box.height / 2,
                    title: `${y.label} = ${cell.row.text}, ${x.label} = ${cell.column.text}`,
                    rows: [
                        {
                            name: measure.label,
                            value: told ? measure.exact(cell.mean) : "–",
                            note: told
                                ? G.isNumber(cell.lo)
                                    ? `${measure.exact(cell.lo)} to ${measure.exact(cell.hi)}`
                                    : "one seed"
                                : G.lack(cell),
                        },
                    ],
                    foot: G.isNumber(cell.lo)
                        ? [`95\u00a0% interval over ${cell.total} seeds`]
                        : [],
                    cursor: [G.svg("rect", { class: "frame", ...box })],
                };
            },
        };
    }

    function sentence(sweep, view) {
        const { best } = gridOf(sweep, view);
        const what = `${view.measure.label} for every ${view.y.label} and ${view.x.label}`;
        if (!best) return `Heat map: ${what}. No combination has a mean.`;
        const where = `${view.y.label} = ${best.row.text}, ${view.x.label} = ${best.column.text}`;
        return `Heat map: ${what}. Best: ${where}, with ${G.cellText(best, view.measure)}.`;
    }

    // view() may change when the reader chooses otherwise.
    G.sweepMap = (sweep, id, view, controls) =>
        G.figure({
            id,
            title: "Two at a time",
            note:
                "The stronger the colour, the better. The frame and the star mark the best mean. " +
                "Hatched: no mean, because a seed has no value.",
            legend: false,
            controls,
            series: () => [{ name: view().measure.label }],
            height: () => 6 + view().y.values.length * ROW + 74,
            draw: (stage) => draw(stage, sweep, view()),
            alt: () => sentence(sweep, view()),
            table: () => {
                const { x, y, measure } = view();
                return {
                    head: [
                        y.label,
                        x.label,
                        `${measure.label}, mean`,
                        "95\u00a0% from",
                        "to",
                        "seeds",
                        "remark",
                    ],
                    rows: gridOf(sweep, view()).cells.map((cell) => [
                        cell.row.text,
                        cell.column.text,
                        measure.exact(cell.mean),
                        measure.exact(cell.lo),
                        measure.exact(cell.hi),
                        G.number(cell.total),
                        G.isNumber(cell.mean) ? "" : G.lack(cell),
                    ]),
                };
            },
        });
}
