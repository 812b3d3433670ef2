// From values to places between 0 and 1, and the values that are worth a tick.
{
    const SECONDS = [
        1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400,
    ];

    function round(value) {
        return Number(value.toPrecision(12));
    }

    function step(span, count) {
        const rough = span / Math.max(1, count);
        const size = 10 ** Math.floor(Math.log10(rough));
        return [1, 2, 5, 10].map((m) => m * size).find((s) => s >= rough * 0.999) ?? 10 * size;
    }

    function timeStep(span, count) {
        const rough = span / Math.max(1, count);
        if (rough < 1) return step(span, count);
        return SECONDS.find((s) => s >= rough) ?? 86400 * Math.max(1, step(span / 86400, count));
    }

    function multiples(lo, hi, size) {
        const ticks = [];
        for (
            let i = Math.ceil(lo / size - 1e-9);
            i * size <= hi * (1 + 1e-12) + size * 1e-9 && ticks.length < 200;
            i += 1
        ) {
            ticks.push(round(i * size));
        }
        return ticks;
    }

    function linear(lo, hi, { nice = false, whole = false, time = false } = {}) {
        if (!(hi > lo)) [lo, hi] = around(lo, nice);
        const width = time ? timeStep : step;
        if (nice) {
            const size = width(hi - lo, 5);
            [lo, hi] = [Math.floor(lo / size + 1e-9) * size, Math.ceil(hi / size - 1e-9) * size];
        }
        return {
            lo,
            hi,
            log: false,
            at: (value) => (value - lo) / (hi - lo),
            ticks: (count) =>
                multiples(
                    lo,
                    hi,
                    whole ? Math.max(1, width(hi - lo, count)) : width(hi - lo, count),
                ),
        };
    }

    // One single value still gets an axis.
    function around(value, nice) {
        const pad = Math.abs(value) * 0.1 || 1;
        return nice || value !== 0 ? [value - pad, value + pad] : [0, 1];
    }

    function log(lo, hi, { nice = false } = {}) {
        if (!(hi > lo)) [lo, hi] = [lo / 2, lo * 2];
        if (nice) [lo, hi] = [niceBelow(lo), niceAbove(hi)];
        const [a, b] = [Math.log10(lo), Math.log10(hi)];
        return {
            lo,
            hi,
            log: true,
            at: (value) => (Math.log10(value) - a) / (b - a),
            ticks: (count) => logTicks(lo, hi, a, b, count),
        };
    }

    const niceBelow = (value) =>
        [5, 2, 1]
            .map((m) => m * 10 ** Math.floor(Math.log10(value)))
            .find((v) => v <= value * 1.0001) ?? value;
    const niceAbove = (value) =>
        [1, 2, 5, 10]
            .map((m) => m * 10 ** Math.floor(Math.log10(value)))
            .find((v) => v >= value * 0.9999) ?? value;

    // Decades; with few of them also what lies between.
    function logTicks(lo, hi, a, b, count) {
        const decades = b - a;
        const between =
            decades < 1.2 ? [1, 2, 3, 5, 7] : decades * 3 <= count * 1.5 ? [1, 2, 5] : [1];
        const every = Math.max(1, Math.ceil(decades / Math.max(2, count)));
        const ticks = [];
        for (let k = Math.floor(a); k <= Math.ceil(b); k += 1) {
            if (between.length === 1 && k % every !== 0) continue;
            for (const m of between) {
                const value = round(m * 10 ** k);
                if (value >= lo * 0.9999 && value <= hi * 1.0001) ticks.push(value);
            }
        }
        return ticks.length > 1 ? ticks : multiples(lo, hi, step(hi - lo, 4)).filter((v) => v > 0);
    }

    // The axis of HdrHistogram's plots: every further nine of a percentile takes the same room.
    const NINES = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 0.9999999];
    const nines = (q) => -Math.log10(1 - q);
    function percentiles(hi) {
        const end = Math.max(1, hi);
        return {
            lo: 0,
            hi: end,
            log: false,
            at: (value) => value / end,
            ticks: (count) =>
                NINES.filter(
                    (q) => nines(q) <= end + 1e-9 && (q !== 0.5 || count * 0.3 > end * 0.8),
                ).map(nines),
        };
    }
    const percentileOf = (x) =>
        `${Number((100 * (1 - 10 ** -x)).toFixed(Math.max(0, Math.ceil(x) - 1) + (x < 1 ? 1 : 0)))} %`;

    Object.assign(G, { linear, log, percentiles, percentileOf, nines });
}
