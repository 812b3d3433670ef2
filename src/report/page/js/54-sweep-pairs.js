// Paired differences: every combination against a reference, seed by seed.
{
    const LONG = 12;
    const WIDTH = 150;
    const HEIGHT = 16;

    // What may be compared with: a variant at the same swept values, or the first value of a key
    // with all else the same. A choice of place: the dimension and the value that stands for the
    // reference.
    function references({ dimensions, keys }) {
        const variant = dimensions[dimensions.length - 1];
        const list = [variant, ...keys]
            .filter(({ values }) => values.length > 1)
            .flatMap((dimension) => dimension.values.map((value) => [dimension, value]));
        return list.map(([dimension, value], index) => ({
            id: String(index),
            dimension,
            value,
            text: `${dimension.label} = ${value.text}, all else the same`,
        }));
    }

    function rowsOf(sweep, { dimension, value }, measure) {
        return sweep.combinations
            .filter((one) => one.at[dimension.key] !== value.index)
            .map((one) => {
                const other = sweep.find({ ...one.at, [dimension.key]: value.index });
                const [ours, theirs] = [G.cellOf(one, measure), G.cellOf(other, measure)];
                return { one, other, ...G.paired(ours.readings, theirs.readings) };
            });
    }

    function difference(value, measure) {
        if (!G.isNumber(value)) return "–";
        const text = measure.exact(Math.abs(value));
        return value === 0 ? text : `${value > 0 ? "+" : "−"}${text}`;
    }

    function interval(row, measure) {
        if (row.pairs === 0) return "no common seed";
        if (row.censored > 0)
            return `none: ${row.censored} of ${G.plural(row.pairs, "pair")} without a value`;
        if (row.pairs === 1) return "none: one seed";
        return `${difference(row.lo, measure)} to ${difference(row.hi, measure)}`;
    }

    // Seeds of which the sign is known, the larger side first.
    function agreement({ lower, higher, equal, pairs }) {
        if (pairs === 0) return "–";
        if (lower === 0 && higher === 0) return equal ? `${equal} of ${pairs} equal` : "not known";
        if (lower === higher) return `${lower} lower, ${higher} higher of ${pairs}`;
        return lower >= higher ? `${lower} of ${pairs} lower` : `${higher} of ${pairs} higher`;
    }

    // The interval beside zero, on one scale for all rows.
    function picture(row, reach) {
        const px = (v) => WIDTH / 2 + Math.max(-1, Math.min(1, v / reach)) * (WIDTH / 2 - 6);
        const y = HEIGHT / 2;
        const icon = G.svg("svg", {
            class: "interval",
            viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
            width: WIDTH,
            height: HEIGHT,
            "aria-hidden": "true",
        });
        icon.append(G.svg("line", { class: "zero", x1: px(0), x2: px(0), y1: 0, y2: HEIGHT }));
        if (!G.isNumber(row.mean)) return icon;
        if (G.isNumber(row.lo))
            icon.append(
                G.svg("line", { class: "reach", x1: px(row.lo), x2: px(row.hi), y1: y, y2: y }),
            );
        icon.append(G.svg("circle", { class: "middle", cx: px(row.mean), cy: y, r: 3.4 }));
        return icon;
    }

    function columnsOf({ keys, variants }, measure, reach) {
        return [
            ...(variants.length > 1
                ? [
                    {
                        title: "variant",
                        sort: ({ one }) => one.at[G.VARIANT],
                        cell: ({ one }) => variants[one.at[G.VARIANT]]?.text,
                    },
                ]
                : []),
            ...keys.map((key) => ({
                title: key.label,
                sort: ({ one }) => key.values[one.at[key.key]]?.size ?? Infinity,
                cell: ({ one }) => key.values[one.at[key.key]]?.text,
            })),
            {
                title: "mean difference",
                sort: (row) => row.mean,
                cell: (row) => difference(row.mean, measure),
                key: "difference",
            },
            {
                title: "95\u00a0% interval",
                sort: (row) => row.lo,
                cell: (row) => interval(row, measure),
                key: "interval",
            },
            { title: "lower | higher", key: "picture", cell: (row) => picture(row, reach) },
            {
                title: "seeds",
                sort: (row) => row.higher - row.lower,
                cell: agreement,
                key: "seeds",
            },
        ];
    }

    // Ends of intervals that are far out do not press all others together.
    function reachOf(rows) {
        const means = rows.map((row) => Math.abs(row.mean)).filter(G.isNumber);
        const ends = rows.flatMap((row) => [row.lo, row.hi]).filter(G.isNumber).map(Math.abs);
        const largest = Math.max(0, ...means);
        return Math.max(largest, Math.min(Math.max(0, ...ends), 2.5 * largest)) || 1;
    }

    G.sweepPairs = (sweep) => {
        const options = references(sweep);
        if (options.length === 0 || sweep.measures.length === 0) return null;
        const state = { reference: options[0], measure: sweep.main, words: "" };
        const table = G.sortedTable({
            kind: "pairs",
            label: "Paired differences",
            attributes: ({ one }) => ({ "data-combination": one.name }),
        });
        const count = G.el("span", { class: "count", role: "status" });
        const update = () => {
            const rows = rowsOf(sweep, state.reference, state.measure);
            const found = rows.filter(({ one }) => G.matches(state.words, one.name));
            table.show(found, columnsOf(sweep, state.measure, reachOf(found)));
            count.textContent =
                found.length < rows.length ? `${found.length} of ${rows.length} rows` : "";
        };
        update();
        const measures = sweep.measures.map((measure) => [measure.key, measure.label]);
        const others = options.map((one) => [one.id, one.text]);
        const controls = [
            G.choice("measure", measures, state.measure.key, (key) => {
                state.measure = sweep.measures.find((measure) => measure.key === key);
                update();
            }),
            G.choice("compared with", others, state.reference.id, (id) => {
                state.reference = options.find((one) => one.id === id);
                update();
            }),
            sweep.combinations.length > LONG
                ? G.search("rows with", (words) => {
                      state.words = words;
                      update();
                  })
                : null,
            count,
        ];
        return G.el(
            "div",
            { class: "pairs-block" },
            G.el("h3", {}, "Paired differences"),
            G.text(
                "Combination minus reference, for each seed; then the mean over seeds and its " +
                    "95\u00a0% interval (Student's t). An interval that holds zero says that the " +
                    "seeds do not tell the two apart. With many rows about one in twenty leaves " +
                    "zero out by chance.",
                "note",
            ),
            G.el("div", { class: "controls" }, controls),
            table.node,
        );
    };
}
