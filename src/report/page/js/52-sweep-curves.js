// Response curves: a measure against a swept value, means with 95 % intervals, and the seeds as dots.
{
    // From so many lines on, intervals and dots are shown for the line that is pointed at only.
    const CROWD = 5;
    const STEP = 5;
    const DECADES = 50;
    const NOTHING = 1e-9;

    const lookOf = (dimension, value) =>
        dimension.key === G.VARIANT ? value : { ...value, ...G.variantLook(value.index) };

    // view: { x, lines, panels or null, fixed }. A panel of the same dimension as the lines shows its own
    // line in front of all others.
    function panelsOf(sweep, view, measure) {
        const shown = view.lines.values.filter((value) => !view.hidden.has(value.index));
        const own = view.panels === view.lines;
        const heads = view.panels ? (own ? shown : view.panels.values) : [null];
        return heads.map((head) => ({
            head,
            title: head ? (own ? head.text : `${view.panels.label} = ${head.text}`) : "",
            lines: shown.map((value) => ({
                value,
                look: lookOf(view.lines, value),
                ghost: own && value !== head,
                cells: view.x.values.map((at) => {
                    const place = { ...view.fixed, [view.x.key]: at.index, [view.lines.key]: value.index };
                    if (head && !own) place[view.panels.key] = head.index;
                    return { at, ...G.cellOf(sweep.find(place), measure) };
                }),
            })),
        }));
    }

    const cellsOf = (panels) => panels.flatMap(({ lines }) => lines.flatMap((line) => line.cells));
    const numbersOf = (cells) =>
        cells.flatMap((cell) => [cell.mean, ...cell.readings.map((one) => one.value)]).filter(G.isNumber);

    // Nine decades below the largest number there is nothing but rounding.
    const floorOf = (numbers) => (G.range(numbers)?.[1] ?? 0) * NOTHING;

    function logScale(cells) {
        const numbers = numbersOf(cells);
        const zero = floorOf(numbers);
        const [lo, hi] = G.range(numbers.filter((v) => v > zero)) ?? [0.1, 1];
        const ends = cells.flatMap((cell) => [cell.lo, cell.hi]);
        const near = ends.filter((v) => G.isNumber(v) && v > lo / 3 && v < hi * 3);
        return {
            scale: G.log(...G.range([lo, hi, ...near]), { nice: true }),
            zero: numbers.some((v) => v <= zero) ? zero : 0,
        };
    }

    // Intervals of two seeds are twelve standard errors wide: they may leave the chart, the seeds may not.
    function linearScale(cells, { most = Infinity, time = false }) {
        const [lo, hi] = G.range(numbersOf(cells)) ?? [0, 1];
        const reach = 0.6 * (hi - lo || Math.abs(hi) || 1);
        const least = lo >= 0 ? 0 : -Infinity;
        const ends = cells
            .flatMap((cell) => [cell.lo, cell.hi])
            .filter(G.isNumber)
            .map((v) => Math.max(least, lo - reach, Math.min(hi + reach, most, v)));
        const [low, high] = G.range([lo, hi, ...ends]);
        const from = low > 0 && low < 0.4 * high ? 0 : low;
        return { scale: G.linear(from, high, { nice: true, time }), zero: 0 };
    }

    // On an axis of times all ticks are told alike.
    function tickFormat(scale, measure) {
        if (!measure.time) return measure.format;
        if (scale.log && scale.lo >= 1) return (v) => `${G.number(v)}\u00a0s`;
        return (v) => G.timeTick(v, scale.hi);
    }

    function wide(cells, measure) {
        const numbers = numbersOf(cells);
        const range = G.range(numbers.filter((v) => v > floorOf(numbers)));
        return Boolean(range) && !measure.up && range[1] / range[0] > DECADES;
    }
    function canLog(cells) {
        const range = G.range(numbersOf(cells));
        return Boolean(range) && range[0] >= 0 && range[1] > 0;
    }

    function draw(stage, view, measure, panels, log) {
        const cells = cellsOf(panels);
        if (numbersOf(cells).length === 0 && cells.every((cell) => cell.missing.length === 0)) return G.nothing(stage);
        const x = { dimension: view.x, scale: G.sweptScale(view.x) };
        const reasons = G.unique(cells.flatMap((cell) => cell.missing.map((one) => one.why)));
        const strip = reasons.length > 1 ? "no value" : (reasons[0] ?? "");
        const { scale, zero } = log ? logScale(cells) : linearScale(cells, measure);
        const y = { scale, zero, format: tickFormat(scale, measure), label: measure.label, strip };
        const areas = G.panels(stage, panels.map((panel) => panel.title), x, y);
        const placed = panels.map((panel, i) => ({ panel, area: areas[i], lines: fill(stage, panel, areas[i], view) }));
        return reader(stage, placed, view, measure);
    }

    let clips = 0;
    function fill(stage, panel, area, view) {
        clips += 1;
        const box = { x: area.left, y: area.plot - 6, width: area.right - area.left, height: area.bottom - area.plot + 7 };
        stage.svg.append(G.svg("clipPath", { id: `sweep-clip-${clips}` }, G.svg("rect", box)));
        const front = panel.lines.filter((line) => !line.ghost);
        const crowd = front.length > CROWD;
        const sheet = G.svg("g", { class: crowd ? "crowd" : null });
        stage.svg.append(sheet);
        const xs = view.x.values.map(area.px).sort((a, b) => a - b);
        const gap = Math.min(...xs.slice(1).map((at, i) => at - xs[i]), 60);
        const step = crowd ? 0 : Math.min(STEP, (gap * 0.6) / front.length);
        const drawn = [...panel.lines.filter((line) => line.ghost), ...front].map((line) => {
            const shift = line.ghost ? 0 : (front.indexOf(line) - (front.length - 1) / 2) * step;
            return stroke(sheet, line, area, shift, `url(#sweep-clip-${clips})`, view.x.numeric);
        });
        return drawn.filter((one) => !one.line.ghost);
    }

    function stroke(sheet, line, area, shift, clip, numeric) {
        const { look, cells, ghost, value } = line;
        const spots = cells.map((cell) => ({ cell, x: area.px(cell.at) + shift, y: G.isNumber(cell.mean) ? area.py(cell.mean) : null }));
        const ordered = [...spots].sort((a, b) => a.x - b.x);
        const path = ordered
            .map(({ x, y }, i) => (y === null ? "" : `${i > 0 && ordered[i - 1].y !== null ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`))
            .join("");
        const group = G.svg("g", { class: ghost ? "series ghost" : "series", "data-line": value.index });
        sheet.append(group);
        group.append(
            G.svg("path", {
                class: numeric ? "line" : "line guide",
                d: path || "M0 0",
                stroke: ghost ? "var(--line)" : look.colour,
                "stroke-dasharray": (!ghost && look.dash) || null,
            }),
        );
        if (ghost) return { line, spots };
        group.append(detail(spots, area, look, clip));
        group.append(G.marks(spots.filter((s) => s.y !== null).map(({ x, y }) => [x, y]), look, 3.6, { class: "means" }));
        const lacking = spots.filter(({ cell }) => cell.missing.length > 0);
        if (lacking.length)
            group.append(G.marks(lacking.map(({ x }) => [x + 0.8 * shift, area.strip]), { mark: "cross", colour: look.colour }, 3.4, { class: "lacking" }));
        return { line, spots };
    }

    // Whiskers and seeds of a line.
    function detail(spots, area, look, clip) {
        const limit = (v) => Math.max(-9999, Math.min(9999, v)).toFixed(1);
        const whiskers = spots
            .filter(({ cell }) => G.isNumber(cell.lo) && cell.hi > cell.lo)
            .map(({ cell, x }) => {
                const low = cell.lo;
                const foot = Number.isFinite(area.py(low)) ? area.py(low) : 9999;
                const [y0, y1] = [limit(foot), limit(area.py(cell.hi))];
                return `M${x.toFixed(1)} ${y0}V${y1}M${(x - 3).toFixed(1)} ${y0}h6M${(x - 3).toFixed(1)} ${y1}h6`;
            });
        const dots = spots
            .filter(({ cell }) => cell.total > 1)
            .flatMap(({ cell, x }) => cell.readings.filter((one) => G.isNumber(one.value)).map((one) => [x, area.py(one.value)]));
        return G.svg(
            "g",
            { class: "detail", "clip-path": clip },
            whiskers.length ? G.svg("path", { class: "whisker", d: whiskers.join(""), stroke: look.colour }) : null,
            dots.length ? G.marks(dots, { mark: "circle", colour: look.colour }, 2, { class: "seeds" }) : null,
        );
    }

    function reader(stage, placed, view, measure) {
        const light = (index) => view.light(index);
        const columns = placed.flatMap(({ area, lines, panel }) =>
            view.x.values.map((value, i) => ({ area, panel, lines, value, i, x: area.px(value) })),
        );
        return {
            stops: columns.map(({ x, area }) => [x, (area.top + area.bottom) / 2]),
            leave: () => light(null),
            at(px, py) {
                const inside = columns.filter(({ area }) => px > area.left - 14 && px < area.right + 14 && py > area.top - 24 && py < area.bottom + 40);
                if (inside.length === 0) return light(null);
                const column = inside.reduce((a, b) => (Math.abs(b.x - px) < Math.abs(a.x - px) ? b : a));
                const near = column.lines
                    .map(({ line, spots }) => ({ line, far: Math.abs((spots[column.i].y ?? column.area.strip) - py) }))
                    .sort((a, b) => a.far - b.far)[0];
                light(near && near.far < 24 ? near.line.value.index : null);
                const rows = column.lines.map(({ line, spots }) => ({ look: line.look, name: line.value.text, cell: spots[column.i].cell }));
                if (rows.length > CROWD + 1) rows.sort((a, b) => order(a.cell, b.cell, measure));
                const head = `${view.x.label} = ${column.value.text}`;
                return {
                    x: column.x,
                    y: py,
                    title: column.panel.title ? `${column.panel.title}, ${head}` : head,
                    rows: rows.map((row) => told(row, measure)),
                    cursor: [G.svg("line", { x1: column.x, x2: column.x, y1: column.area.top, y2: column.area.bottom })],
                };
            },
        };
    }

    function order(a, b, measure) {
        if (!G.isNumber(a.mean) || !G.isNumber(b.mean)) return G.isNumber(b.mean) - G.isNumber(a.mean);
        return measure.up ? b.mean - a.mean : a.mean - b.mean;
    }

    function told({ look, name, cell }, measure) {
        if (!G.isNumber(cell.mean)) return { look, name, value: "–", note: G.lack(cell) };
        const note = G.isNumber(cell.lo) ? `${measure.exact(cell.lo)} to ${measure.exact(cell.hi)}` : "one seed";
        return { look, name, value: measure.exact(cell.mean), note };
    }

    function table(view, measure, panels) {
        const own = view.panels === view.lines;
        const head = [
            ...(view.panels && !own ? [view.panels.label] : []),
            view.lines.label,
            view.x.label,
            `${measure.label}, mean`,
            "95\u00a0% from",
            "to",
            "seeds",
            "without a value",
        ];
        const rows = (own ? panels.slice(0, 1) : panels).flatMap(({ head: panel, lines }) =>
            lines.flatMap(({ value, cells }) =>
                cells.map((cell) => [
                    ...(view.panels && !own ? [panel.text] : []),
                    value.text,
                    cell.at.text,
                    measure.exact(cell.mean),
                    measure.exact(cell.lo),
                    measure.exact(cell.hi),
                    G.number(cell.total),
                    cell.missing.length ? `${cell.missing.length} (${G.list(G.unique(cell.missing.map((one) => one.why)))})` : "",
                ]),
            ),
        );
        return { head, rows };
    }

    function sentence(view, measure, panels) {
        const ranked = cellsOf(panels).filter((cell) => G.isNumber(cell.mean)).sort((a, b) => order(a, b, measure));
        const across = view.panels && view.panels !== view.lines ? `, a panel for each ${view.panels.label}` : "";
        const best = ranked.length
            ? `Best: ${ranked[0].combination.name} with ${G.cellText(ranked[0], measure)}.`
            : "No combination has a mean.";
        return `${measure.label} against ${view.x.label}, a line for each ${view.lines.label}${across}. ${best}`;
    }

    // measure() may change when the reader chooses another.
    G.sweepCurves = (sweep, view, { id, title, measure, controls = [] }) => {
        const state = { log: null };
        const panels = () => panelsOf(sweep, view, measure());
        const isLog = (all) => canLog(cellsOf(all)) && (state.log ?? wide(cellsOf(all), measure()));
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
                toggle.hidden = measure().up || !canLog(cellsOf(all));
                toggle.querySelector("input").checked = Boolean(isLog(all));
                return view.lines.values.filter((v) => !view.hidden.has(v.index)).map((v) => ({ ...lookOf(view.lines, v), name: v.text }));
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
