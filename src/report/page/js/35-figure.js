// A chart's surroundings: title, controls, legend, drawing that follows the width, reading of
// values by pointer and keyboard, the text alternative and the data as a table.
//
// A spec has id, title, note, controls (nodes), and functions: series() with a name and a look
// each, height(width, print), draw(stage), alt() for a sentence, table() with head and rows;
// legend: false where the legend is elsewhere. What draw returns reads values: at(x, y) says what
// to show there and where the cursor is, stops are the places that arrow keys go to, leave() is
// called when nothing is read any more.
{
    const PRINT_WIDTH = 700;
    const TABLE_ROWS = 3000;
    const charts = [];

    function figure(spec) {
        const chart = { spec, hidden: new Set(), drawn: false, reader: null, stop: -1 };
        chart.plot = G.el("div", { class: "plot", role: "img", tabindex: 0 });
        chart.legend = G.el("div", { class: "legend" });
        chart.node = G.el(
            "figure",
            { class: "chart", "data-chart": spec.id },
            G.el(
                "figcaption",
                {},
                G.el("h3", {}, spec.title),
                spec.note ? G.el("p", {}, spec.note) : null,
            ),
            spec.controls?.length ? G.el("div", { class: "controls" }, spec.controls) : null,
            chart.legend,
            chart.plot,
            spec.table ? tableOf(spec) : null,
        );
        listen(chart);
        charts.push(chart);
        chart.refresh = () => refresh(chart);
        refresh(chart);
        chart.node.chart = chart;
        return chart;
    }

    function refresh(chart) {
        const series = chart.spec.series();
        chart.node.dataset.series = series.length;
        chart.legend.replaceChildren(
            ...(chart.spec.legend !== false && (series.length > 1 || chart.spec.keepLegend)
                ? series.map((one) => button(chart, one))
                : []),
        );
        if (chart.drawn) draw(chart);
        else chart.plot.style.minHeight = `${chart.spec.height(800)}px`;
    }

    function button(chart, one) {
        const node = G.el(
            "button",
            {
                type: "button",
                class: "key",
                "aria-pressed": String(!chart.hidden.has(one.name)),
                "data-series-name": one.name,
                click() {
                    if (!chart.hidden.delete(one.name)) chart.hidden.add(one.name);
                    node.setAttribute("aria-pressed", String(!chart.hidden.has(one.name)));
                    draw(chart);
                },
            },
            G.swatch(one),
            G.el("span", {}, one.name),
        );
        return node;
    }

    function draw(chart, forced) {
        const width = forced ?? chart.plot.clientWidth;
        if (width < 40) return;
        const height = chart.spec.height(width, Boolean(forced));
        const svg = G.svg("svg", {
            viewBox: `0 0 ${width} ${height}`,
            width,
            height,
            "aria-hidden": "true",
        });
        const shown = chart.spec.series().filter((one) => !chart.hidden.has(one.name));
        chart.reader =
            chart.spec.draw({ svg, width, height, shown, print: Boolean(forced) }) ?? null;
        chart.cursor = G.svg("g", { class: "cursor" });
        svg.append(chart.cursor);
        chart.svg = svg;
        chart.plot.replaceChildren(svg);
        chart.plot.style.minHeight = "";
        chart.plot.setAttribute("aria-label", `${chart.spec.alt()} Arrow keys read the values.`);
        chart.drawn = width;
        chart.stop = -1;
        chart.node.dataset.drawn = "yes";
    }

    function listen(chart) {
        const { plot } = chart;
        const point = (event) => {
            const box = plot.getBoundingClientRect();
            show(chart, event.clientX - box.left, event.clientY - box.top);
        };
        plot.addEventListener("pointermove", point);
        plot.addEventListener("pointerdown", point);
        // A finger leaves when it is lifted; what it showed stays until something else is touched.
        plot.addEventListener(
            "pointerleave",
            (event) => event.pointerType === "touch" || hide(chart),
        );
        document.addEventListener(
            "pointerdown",
            (event) => plot.contains(event.target) || hide(chart),
        );
        plot.addEventListener("blur", () => hide(chart));
        plot.addEventListener("keydown", (event) => move(chart, event));
    }

    function move(chart, event) {
        const stops = chart.reader?.stops ?? [];
        const last = stops.length - 1;
        const to = {
            ArrowRight: chart.stop + 1,
            ArrowLeft: chart.stop < 0 ? last : chart.stop - 1,
            PageDown: chart.stop + 20,
            PageUp: chart.stop - 20,
            Home: 0,
            End: last,
        }[event.key];
        if (event.key === "Escape") hide(chart);
        if (to === undefined || last < 0) return;
        event.preventDefault();
        chart.stop = Math.max(0, Math.min(last, to));
        show(chart, ...stops[chart.stop]);
    }

    function show(chart, x, y) {
        const found = chart.reader?.at(x, y);
        chart.cursor?.replaceChildren(...(found?.cursor ?? []));
        if (!found) return G.tip.hide();
        const box = chart.plot.getBoundingClientRect();
        G.tip.show(box.left + (found.x ?? x), box.top + (found.y ?? y), found);
    }

    function hide(chart) {
        chart.cursor?.replaceChildren();
        chart.reader?.leave?.();
        G.tip.hide();
    }

    // Made when it is opened: long tables would slow the page down for nobody.
    function tableOf(spec) {
        const node = G.el("details", { class: "rows" }, G.el("summary", {}, "Data as table"));
        node.addEventListener("toggle", () => {
            node.querySelector(".scroll")?.remove();
            if (node.open) node.append(G.table(spec.table()));
        });
        return node;
    }

    G.table = ({ head, rows }) => {
        const shown = G.thin(rows, TABLE_ROWS);
        const cell = (tag) => (text) => G.el(tag, {}, text);
        return G.el(
            "div",
            { class: "scroll", tabindex: 0 },
            G.el(
                "table",
                {},
                shown.length < rows.length
                    ? G.el("caption", {}, `${shown.length} of ${rows.length} rows, evenly spread`)
                    : null,
                G.el("thead", {}, G.el("tr", {}, head.map(cell("th")))),
                G.el(
                    "tbody",
                    {},
                    shown.map((row) => G.el("tr", {}, row.map(cell("td")))),
                ),
            ),
        );
    };

    const near = new IntersectionObserver(
        (entries) => {
            for (const { isIntersecting, target } of entries) {
                if (isIntersecting && !target.chart.drawn) draw(target.chart);
            }
        },
        { rootMargin: "600px" },
    );
    const sizes = new ResizeObserver((entries) =>
        entries.forEach(({ target }) => {
            const { chart } = target.parentNode;
            if (chart.drawn && chart.drawn !== target.clientWidth) draw(chart);
        }),
    );

    // Near the window first; the others when there is time.
    function watch() {
        for (const chart of charts) {
            near.observe(chart.node);
            sizes.observe(chart.plot);
        }
        rest();
    }

    // Charts inside some nodes give way to others.
    G.replaceCharts = (old, make) => {
        const gone = charts.filter((chart) => old.some((node) => node.contains(chart.node)));
        for (const chart of gone) {
            near.unobserve(chart.node);
            sizes.unobserve(chart.plot);
            charts.splice(charts.indexOf(chart), 1);
        }
        make();
        watch();
    };

    // All of them are drawn before printing.
    G.drawCharts = () => {
        watch();
        window.addEventListener("beforeprint", () =>
            charts.forEach((chart) => draw(chart, PRINT_WIDTH)),
        );
        window.addEventListener("afterprint", () => charts.forEach((chart) => draw(chart)));
        window.addEventListener("scroll", () => G.tip.hide(), { passive: true });
    };

    const soon = window.requestIdleCallback ?? ((work) => setTimeout(work, 30));
    function rest() {
        const next = charts.find((chart) => !chart.drawn && chart.plot.clientWidth >= 40);
        if (!next) return;
        soon(() => {
            if (!next.drawn) draw(next);
            rest();
        });
    }

    G.figure = figure;
}
