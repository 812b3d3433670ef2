// What a swept value measures: 0.01, "300ms", "1h 30m", "2Mbps", "500kB". What measures nothing is
// a category: names, booleans, tables, and lists of values that are not all of one kind.
{
    const TIME = {
        d: 86400,
        h: 3600,
        m: 60,
        s: 1,
        ms: 1e-3,
        us: 1e-6,
        µs: 1e-6,
        μs: 1e-6,
        ns: 1e-9,
    };
    const PREFIX = {
        "": 1,
        m: 1e-3,
        k: 1e3,
        M: 1e6,
        G: 1e9,
        T: 1e12,
        Ki: 1024,
        Mi: 1024 ** 2,
        Gi: 1024 ** 3,
    };
    const SIZE = /^\s*(-?\d+(?:\.\d+)?)\s*([kMGT]|[KMG]i|m)?([A-Za-z]+(?:\/[A-Za-z]+)?|%)\s*$/;
    const PART = /^\s*(\d+(?:\.\d+)?)\s*([a-zA-Zµμ]+)/;
    // Longer values get a letter on axes, and a list says what the letter stands for.
    const LONGEST = 16;
    const DECADE = 10;

    function quantity(raw) {
        if (G.isNumber(raw)) return { kind: "number", size: raw };
        if (typeof raw !== "string") return null;
        return duration(raw) ?? prefixed(raw);
    }

    function duration(text) {
        let [rest, size, parts] = [text, 0, 0];
        for (let found = PART.exec(rest); found; found = PART.exec(rest)) {
            if (!(found[2] in TIME)) return null;
            size += Number(found[1]) * TIME[found[2]];
            rest = rest.slice(found[0].length);
            parts += 1;
        }
        return parts > 0 && rest.trim() === "" ? { kind: "time", size } : null;
    }

    function prefixed(text) {
        const found = SIZE.exec(text);
        if (!found) return null;
        return { kind: found[3], size: Number(found[1]) * PREFIX[found[2] ?? ""] };
    }

    const written = (raw) => (typeof raw === "string" ? raw : (JSON.stringify(raw) ?? "–"));
    const letter = (index) => (index < 26 ? String.fromCharCode(65 + index) : `#${index + 1}`);

    // One thing that differs between combinations, with its values in the order of the sweep.
    function dimension(key, label, raws) {
        const sizes = raws.map(quantity);
        const numeric =
            raws.length > 1 &&
            sizes.every((one) => one && one.kind === sizes[0].kind) &&
            G.unique(sizes.map((one) => one.size)).length === raws.length;
        const long = raws.some((raw) => written(raw).length > LONGEST) && key !== G.VARIANT;
        return {
            key,
            label,
            numeric,
            long,
            values: raws.map((raw, index) => ({
                index,
                raw,
                text: written(raw),
                short: long ? letter(index) : written(raw),
                size: numeric ? sizes[index].size : index,
            })),
        };
    }

    // Where the values are between 0 and 1. Numbers that span a decade or more, all above zero,
    // have a logarithmic axis; categories have equal distances.
    function swept({ numeric, values }) {
        const [lo, hi] = G.range(values.map((value) => value.size));
        const log = numeric && lo > 0 && hi / lo >= DECADE;
        const pad = numeric ? 0.07 : 0.5 / values.length;
        const raw = log ? (v) => Math.log(v / lo) / Math.log(hi / lo) : (v) => (v - lo) / (hi - lo);
        return {
            log,
            at: (value) => (hi > lo ? pad + raw(value.size) * (1 - 2 * pad) : 0.5),
        };
    }

    G.VARIANT = "variant";
    Object.assign(G, { quantity, dimension, sweptScale: swept });
}
