// The lines of one panel of response curves: means, whiskers, seeds, and what has no mean.
{
    // From so many lines on, whiskers and seeds are shown for the line that is pointed at only.
    const CROWD = 5;
    const STEP = 5;
    const CAP = 3;

    let clips = 0;

    // Whiskers may be longer than the panel is high.
    function clip(stage, area) {
        clips += 1;
        const id = `sweep-clip-${clips}`;
        const box = {
            x: area.left,
            y: area.plot - 6,
            width: area.right - area.left,
            height: area.bottom - area.plot + 7,
        };
        stage.svg.append(G.svg("clipPath", { id }, G.svg("rect", box)));
        return `url(#${id})`;
    }

    // Lines stand beside each other at every value, so that their whiskers can be told apart.
    function shifts(count, area, { x }) {
        if (count > CROWD) return () => 0;
        const xs = x.values.map(area.px).sort((a, b) => a - b);
        const gap = Math.min(60, ...xs.slice(1).map((at, i) => at - xs[i]));
        const step = Math.min(STEP, (gap * 0.6) / count);
        return (index) => (index - (count - 1) / 2) * step;
    }

    // Where a mean is missing the line is interrupted.
    function path(spots) {
        const ordered = [...spots].sort((a, b) => a.x - b.x);
        return ordered
            .map(({ x, y }, i) => {
                if (y === null) return "";
                const goesOn = i > 0 && ordered[i - 1].y !== null;
                return `${goesOn ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
            })
            .join("");
    }

    function stroke(line, area, shift, { x }) {
        const { look, ghost, value } = line;
        const spots = line.cells.map((cell) => ({
            cell,
            x: area.px(cell.at) + shift,
            y: G.isNumber(cell.mean) ? area.py(cell.mean) : null,
        }));
        const attributes = {
            class: x.numeric ? "line" : "line guide",
            d: path(spots) || "M0 0",
            stroke: ghost ? "var(--line)" : look.colour,
            "stroke-dasharray": ghost ? null : look.dash || null,
        };
        const group = G.svg("g", {
            class: ghost ? "series ghost" : "series",
            "data-line": value.index,
        });
        group.append(G.svg("path", attributes));
        return { line, spots, group };
    }

    function dress({ line: { look }, spots, group }, area, shift, clipped) {
        const means = spots.filter((spot) => spot.y !== null).map(({ x, y }) => [x, y]);
        const lacking = spots
            .filter(({ cell }) => cell.missing.length > 0)
            .map(({ x }) => [x + 0.8 * shift, area.strip]);
        const cross = { mark: "cross", colour: look.colour };
        group.append(
            G.svg(
                "g",
                { class: "detail", "clip-path": clipped },
                whiskers(spots, area, look),
                seeds(spots, area, look),
            ),
        );
        group.append(G.marks(means, look, 3.6, { class: "means" }));
        if (lacking.length) group.append(G.marks(lacking, cross, 3.4, { class: "lacking" }));
    }

    function whiskers(spots, area, look) {
        const at = (value) => {
            const y = area.py(value);
            // Nothing below zero is on a logarithmic axis.
            return (Number.isFinite(y) ? Math.max(-9999, Math.min(9999, y)) : 9999).toFixed(1);
        };
        const parts = spots
            .filter(({ cell }) => G.isNumber(cell.lo) && cell.hi > cell.lo)
            .map(({ cell, x }) => {
                const [low, high, left] = [at(cell.lo), at(cell.hi), (x - CAP).toFixed(1)];
                const caps = [low, high].map((y) => `M${left} ${y}h${2 * CAP}`).join("");
                return `M${x.toFixed(1)} ${low}V${high}${caps}`;
            });
        const attributes = { class: "whisker", d: parts.join(""), stroke: look.colour };
        return parts.length ? G.svg("path", attributes) : null;
    }

    function seeds(spots, area, look) {
        const dots = spots
            .filter(({ cell }) => cell.total > 1)
            .flatMap(({ cell, x }) => cell.readings.map(({ value }) => ({ x, value })))
            .filter(({ value }) => G.isNumber(value))
            .map(({ x, value }) => [x, area.py(value)]);
        const dot = { mark: "circle", colour: look.colour };
        return dots.length ? G.marks(dots, dot, 2, { class: "seeds" }) : null;
    }

    // Draws them; returns those that are not in the background, with the spots of their values.
    G.sweepLines = (stage, panel, area, view) => {
        const front = panel.lines.filter((line) => !line.ghost);
        const ghosts = panel.lines.filter((line) => line.ghost);
        const clipped = clip(stage, area);
        const sheet = G.svg("g", { class: front.length > CROWD ? "crowd" : null });
        stage.svg.append(sheet);
        const shift = shifts(front.length, area, view);
        const drawn = front.map((line, i) => stroke(line, area, shift(i), view));
        drawn.forEach((one, i) => dress(one, area, shift(i), clipped));
        const behind = ghosts.map((line) => stroke(line, area, 0, view));
        sheet.append(...[...behind, ...drawn].map((one) => one.group));
        return drawn;
    };
}
