// Colours live in the style sheet, so that light, dark and print need no redrawing. Nothing is told
// by colour alone: every variant also has its dashes and its mark, every class its mark.
{
    const DASHES = ["", "7 4", "2 3", "10 3 2 3", "14 5", "5 2 1 2 1 2"];
    const MARKS = [
        "circle",
        "square",
        "triangle",
        "diamond",
        "cross",
        "plus",
        "down",
        "ring",
        "bar",
    ];
    const COLOURS = 8;

    function mark(shape, x, y, r) {
        switch (shape) {
            case "square":
                return `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}z`;
            case "triangle":
                return `M${x} ${y - 1.2 * r}l${1.2 * r} ${2 * r}h${-2.4 * r}z`;
            case "down":
                return `M${x} ${y + 1.2 * r}l${1.2 * r} ${-2 * r}h${-2.4 * r}z`;
            case "diamond":
                return `M${x} ${y - 1.4 * r}l${1.2 * r} ${1.4 * r}l${-1.2 * r} ${1.4 * r}l${-1.2 * r} ${-1.4 * r}z`;
            case "plus":
                return cross(x, y, r, 0.4 * r);
            case "bar":
                return `M${x - 0.5 * r} ${y - 1.3 * r}h${r}v${2.6 * r}h${-r}z`;
            case "cross":
                return `M${x - r} ${y - r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`;
            default:
                return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
        }
    }

    function cross(x, y, r, w) {
        const a = 1.2 * r - w;
        return `M${x - w} ${y - w - a}h${2 * w}v${a}h${a}v${2 * w}h${-a}v${a}h${-2 * w}v${-a}h${-a}v${-2 * w}h${a}z`;
    }

    G.mark = mark;
    // These two are drawn as lines, the others are filled.
    G.isOpen = (shape) => shape === "cross" || shape === "ring";

    G.variantLook = (index) => ({
        colour: `var(--v${index % COLOURS})`,
        dash: DASHES[index % DASHES.length],
        mark: MARKS[(index + Math.floor(index / COLOURS)) % MARKS.length],
    });
    G.classLook = (index) => ({
        colour: `var(--c${index % 9})`,
        dash: DASHES[index % DASHES.length],
        mark: MARKS[index % MARKS.length],
    });

    // A few marks as one path: thousands of points stay cheap.
    G.marks = (points, look, r, attributes = {}) =>
        G.svg("path", {
            d: points
                .map(([x, y]) =>
                    mark(look.mark, Math.round(x * 10) / 10, Math.round(y * 10) / 10, r),
                )
                .join(""),
            fill: G.isOpen(look.mark) ? "none" : look.colour,
            stroke: look.colour,
            "stroke-width": G.isOpen(look.mark) ? 1.4 : 0,
            ...attributes,
        });

    // The sample of a series in legends and tips.
    G.swatch = (look) => {
        const icon = G.svg("svg", {
            class: "swatch",
            viewBox: "0 0 26 12",
            width: 26,
            height: 12,
            "aria-hidden": "true",
        });
        if (look.fill) {
            icon.append(
                G.svg("rect", { x: 4, y: 0.5, width: 18, height: 11, rx: 2, fill: look.colour }),
            );
            if (look.hatch)
                icon.append(
                    G.svg("rect", {
                        x: 4,
                        y: 0.5,
                        width: 18,
                        height: 11,
                        rx: 2,
                        fill: "url(#hatch)",
                    }),
                );
            return icon;
        }
        if (look.line !== false) {
            icon.append(
                G.svg("line", {
                    x1: 0,
                    x2: 26,
                    y1: 6,
                    y2: 6,
                    stroke: look.colour,
                    "stroke-width": 2,
                    "stroke-dasharray": look.dash || null,
                }),
            );
        }
        icon.append(G.marks([[13, 6]], look, 3.4));
        return icon;
    };
}
