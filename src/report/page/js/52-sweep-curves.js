// Response curves: a measure against a swept value, means with 95 % intervals, and the seeds as
// dots.
{
    const NEAR = 24;
    const SORTED_FROM = 7;

    const lookOf = (dimension, value) =>
        dimension.key === G.VARIANT ? value : { ...value, ...G.variantLook(value.index) };

    // view: { x, lines, panels or null, fixed, hidden, light }. A panel of the same dimension as
    // the lines shows its own line in front of all others.
    function panelsOf(sweep, view, measure) {
        const shown = view.lines.values.filter((value) => !view.hidden.has(value.index));
        const own = view.panels === view.lines;
        const heads = view.panels ? (own ? shown : view.panels.values) : [null];
        return heads.map((head) => {
            const place = { ...view.fixed };
            if (head && !own) place[view.panels.key] = head.index;
            const along = (value) => ({ ...place, [view.lines.key]: value.index });
            return {
                head,
                title: head ? (own ? head.text : `${view.panels.label} = ${head.text}`) : "",
                lines: shown.map((value) => ({
                    value,
                    look: lookOf(view.lines, value),
                    ghost: own && value !== head,
                    cells: cellsAlong(sweep, view, along(value), measure),
                })),
            };
        });
    }

    const cellsAlong = (sweep, { x }, place, measure) =>
        x.values.map((at) => ({
            at,
            ...G.cellOf(sweep.find({ ...place, [x.key]: at.index }), measure),
        }));

    const cellsOf = (panels) => panels.flatMap(({ lines }) => lines.flatMap((line) => line.cells));

    function draw(stage, view, measure, panels, log) {
        const cells = cellsOf(panels);
        if (cells.every((cell) => cell.total === 0)) return G.nothing(stage);
        const reasons = G.unique(cells.flatMap((cell) => cell.missing.map((one) => one.why)));
        const x = { dimension: view.x, scale: G.sweptScale(view.x) };
        const y = {
            ...G.responseScale(cells, measure, log),
            label: measure.label,
            strip: reasons.length > 1 ? "no value" : (reasons[0] ?? ""),
        };
        const titles = panels.map((panel) => panel.title);
        const areas = G.panels(stage, titles, x, y);
        const placed = panels.map((panel, i) => ({
            panel,
            area: areas[i],
            lines: G.sweepLines(stage, panel, areas[i], view),
        }));
        return reader(placed, view, measure);
    }

    function reader(placed, view, measure) {
        const columns = placed.flatMap(({ area, lines, panel }) =>
            view.x.values.map((value, i) => ({ area, panel, lines, value, i, x: area.px(value) })),
        );
        return {
            stops: columns.map(({ x, area }) => [x, (area.top + area.bottom) / 2]),
            leave: () => view.light(null),
            at(px, py) {
                const column = columnAt(columns, px, py);
                const lit = column && lineAt(column, py);
                view.light(lit);
                return column && told(column, py, lit, view, measure);
            },
        };
    }

    function columnAt(columns, px, py) {
        const inside = ({ left, right, top, bottom }) =>
            px > left - 14 && px < right + 14 && py > top - 24 && py < bottom + 40;
        const far = (column) => Math.abs(column.x - px);
        const [nearest] = columns
            .filter(({ area }) => inside(area))
            .sort((a, b) => far(a) - far(b));
        return nearest ?? null;
    }

    function lineAt({ lines, area, i }, py) {
        const far = ({ spots }) => Math.abs((spots[i].y ?? area.strip) - py);
        const [nearest] = [...lines].sort((a, b) => far(a) - far(b));
        return nearest && far(nearest) < NEAR ? nearest.line.value.index : null;
    }

    function told({ lines, area, panel, value, i, x }, py, lit, view, measure) {
        const rows = lines.map(({ line, spots }) => ({ line, cell: spots[i].cell }));
        const many = rows.length >= SORTED_FROM;
        if (many) rows.sort((a, b) => order(a.cell, b.cell, measure));
        const full = (line, cell) =>
            !many || line.value.index === lit || !G.isNumber(cell.mean);
        const where = `${view.x.label} = ${value.text}`;
        return {
            x,
            y: py,
            title: panel.title ? `${panel.title}, ${where}` : where,
            rows: rows.map(({ line, cell }) => ({
                look: line.look,
                name: line.value.text,
                value: measure.exact(cell.mean),
                note: full(line, cell) ? note(cell, measure) : "",
            })),
            cursor: [G.svg("line", { x1: x, x2: x, y1: area.top, y2: area.bottom })],
        };
    }

    function note(cell, measure) {
        if (!G.isNumber(cell.mean)) return G.lack(cell);
        if (!G.isNumber(cell.lo)) return "one seed";
        return `${measure.exact(cell.lo)} to ${measure.exact(cell.hi)}`;
    }

    // The best first; what has no mean comes last.
    function order(a, b, measure) {
        if (!G.isNumber(a.mean) || !G.isNumber(b.mean))
            return G.isNumber(b.mean) - G.isNumber(a.mean);
        return measure.up ? b.mean - a.mean : a.mean - b.mean;
    }

    function missing(cell) {
        if (cell.missing.length === 0) return "";
        return `${cell.missing.length} (${G.list(G.unique(cell.missing.map((one) => one.why)))})`;
    }

    function table(view, measure, panels) {
        // Panels of the lines themselves repeat each other.
        const own = view.panels === view.lines;
        const across = view.panels && !own;
        const row = (panel, line, cell) => [
            ...(across ? [panel.head.text] : []),
            line.value.text,
            cell.at.text,
            ...[cell.mean, cell.lo, cell.hi].map(measure.exact),
            G.number(cell.total),
            missing(cell),
        ];
        return {
            head: [
                ...(across ? [view.panels.label] : []),
                view.lines.label,
                view.x.label,
                `${measure.label}, mean`,
                "95\u00a0% from",
                "to",
                "seeds",
                "without a value",
            ],
            rows: (own ? panels.slice(0, 1) : panels).flatMap((panel) =>
                panel.lines.flatMap((line) => line.cells.map((cell) => row(panel, line, cell))),
            ),
        };
    }

    function sentence(view, measure, panels) {
        const [best] = cellsOf(panels)
            .filter((cell) => G.isNumber(cell.mean))
            .sort((a, b) => order(a, b, measure));
        const axes = [`against ${view.x.label}`, `a line for each ${view.lines.label}`];
        if (view.panels) axes.push(`a panel for each ${view.panels.label}`);
        const end = best
            ? `Best: ${best.combination.name} with ${G.cellText(best, measure)}.`
            : "No combination has a mean.";
        return `${measure.label} ${axes.join(", ")}. ${end}`;
    }

    // measure() may change when the reader chooses another; forget() lets the axis follow.
    G.sweepCurves = (sweep, view, { id, title, measure, controls = [] }) => {
        const state = { log: null };
        const panels = () => panelsOf(sweep, view, measure());
        const isLog = (all) => {
            const { possible, wanted } = G.responseLog(cellsOf(all), measure());
            return possible && (state.log ?? wanted);
        };
        const toggle = G.toggle("logarithmic", false, (on) => {
            state.log = on;
            chart.refresh();
        });
        const chart = G.figure({
            id,
            title,
            legend: false,
            controls: [...controls, toggle],
            series: () => {
                const all = panels();
                toggle.hidden = !G.responseLog(cellsOf(all), measure()).possible;
                toggle.querySelector("input").checked = isLog(all);
                return view.lines.values
                    .filter((value) => !view.hidden.has(value.index))
                    .map((value) => ({ ...lookOf(view.lines, value), name: value.text }));
            },
            height: (width, print) => G.panelsHeight(width, panels().length, print),
            draw: (stage) => {
                const all = panels();
                return draw(stage, view, measure(), all, isLog(all));
            },
            alt: () => sentence(view, measure(), panels()),
            table: () => table(view, measure(), panels()),
        });
        chart.forget = () => {
            state.log = null;
        };
        return chart;
    };
    G.lineLook = lookOf;
}
