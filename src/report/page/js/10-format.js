// Numbers, durations and names as people read them.
{
    const METRICS = {
        test_accuracy: { label: "test accuracy", up: true },
        distance: { label: "distance to the optimum" },
        train_loss: { label: "training loss F(x)" },
        test_loss: { label: "test loss" },
        grad_norm: { label: "gradient norm ‖∇F‖" },
    };
    // Between a number and its unit no line ends.
    const GAP = "\u00a0";
    const MINUTE = 60;
    const HOUR = 3600;
    const DAY = 86400;

    // Four significant digits unless told otherwise; whole numbers stay whole.
    function number(value, digits = 4) {
        if (!G.isNumber(value)) return "–";
        if (value === 0) return "0";
        const size = Math.abs(value);
        if (Number.isInteger(value) && size < 1e15) return group(value);
        if (size >= 1e6 || size < 1e-4) return power(value, digits);
        const text = value.toPrecision(digits);
        return text.includes("e") ? group(Math.round(value)) : text.replace("-", "−");
    }

    function group(value) {
        const text = String(Math.abs(value)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
        return (value < 0 ? "−" : "") + (Math.abs(value) < 10000 ? String(Math.abs(value)) : text);
    }

    function power(value, digits) {
        const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
        const raised = [...String(Number(exponent))].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("");
        const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
        return `${short === "1" ? "" : `${short}${GAP}·${GAP}`}10${raised}`.replace("-", "−");
    }

    function trimmed(value, digits) {
        return String(Number(value.toPrecision(digits)));
    }

    function duration(seconds, digits = 4) {
        if (!G.isNumber(seconds)) return "–";
        if (seconds < 0) return `−${duration(-seconds, digits)}`;
        if (seconds === 0) return `0${GAP}s`;
        if (seconds < 1e-6) return `${trimmed(seconds * 1e9, digits)}${GAP}ns`;
        if (seconds < 1e-3) return `${trimmed(seconds * 1e6, digits)}${GAP}µs`;
        if (seconds < 1) return `${trimmed(seconds * 1e3, digits)}${GAP}ms`;
        if (seconds < 2 * MINUTE) return `${trimmed(seconds, digits)}${GAP}s`;
        return clock(seconds);
    }

    // On an axis that goes beyond two minutes, 90 s beside 2 m would be two ways of counting.
    const timeTick = (seconds, end) =>
        end >= 2 * MINUTE && seconds >= MINUTE ? clock(seconds) : duration(seconds);

    // Two units are enough: 49 m 58 s, 2 h 5 m, 3 d 4 h.
    function clock(seconds) {
        if (seconds < HOUR) return pair(Math.round(seconds), MINUTE, "m", "s");
        if (seconds < 2 * DAY) return pair(Math.round(seconds / MINUTE), MINUTE, "h", "m");
        return pair(Math.round(seconds / HOUR), 24, "d", "h");
    }

    function pair(whole, size, big, small) {
        const rest = whole % size;
        const head = `${group(Math.floor(whole / size))}${GAP}${big}`;
        return rest === 0 ? head : `${head}${GAP}${rest}${GAP}${small}`;
    }

    function percent(part, digits = 3) {
        if (!G.isNumber(part)) return "–";
        if (part === 0) return `0${GAP}%`;
        if (part > 0 && part < 1e-4) return `<${GAP}0.01${GAP}%`;
        return `${trimmed(part * 100, digits)}${GAP}%`;
    }

    // 840 B, 12.3 kB, 4.56 MB: thousands, as links count.
    function bytes(value, digits = 3) {
        if (!G.isNumber(value)) return "–";
        const size = Math.abs(value);
        const power = Math.min(4, size < 1000 ? 0 : Math.floor(Math.log10(size) / 3 + 1e-9));
        const scaled = trimmed(value / 1000 ** power, digits).replace("-", "−");
        return `${scaled}${GAP}${["B", "kB", "MB", "GB", "TB"][power]}`;
    }

    // As short as it can be said exactly enough: for ticks and for numbers that people wrote.
    function brief(value, digits = 4) {
        const text = number(value, digits);
        return /^[−\d]*\.\d+$/.test(text) ? text.replace(/\.?0+$/, "") : text;
    }

    // "fednova", "fednova and fedavg", "a, b and c".
    function list(names) {
        if (names.length < 2) return names.join("");
        return `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
    }

    const metric = (name) => ({
        name,
        up: false,
        label: name.replaceAll("_", " "),
        ...METRICS[name],
    });
    const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

    Object.assign(G, { number, brief, duration, timeTick, percent, bytes, list });
    Object.assign(G, { metric, plural, trimmed });
    G.METRIC_ORDER = Object.keys(METRICS);
}
