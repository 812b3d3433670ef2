// The y axis of response curves: it holds all seeds, and as much of the intervals as does no harm.
{
    const DECADES = 50;
    const NOTHING = 1e-9;

    const numbersOf = (cells) =>
        cells
            .flatMap((cell) => [cell.mean, ...cell.readings.map((one) => one.value)])
            .filter(G.isNumber);

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

    // Intervals of two seeds are twelve standard errors wide: they may leave the chart, seeds may
    // not.
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

    // scale, zero and format of the axis, for the cells that are shown.
    G.responseScale = (cells, measure, log) => {
        const { scale, zero } = log ? logScale(cells) : linearScale(cells, measure);
        // Without a number the axis has none either.
        const empty = numbersOf(cells).length === 0;
        return { scale, zero, format: empty ? () => "" : tickFormat(scale, measure) };
    };

    // Whether a logarithmic axis is possible, and whether the numbers ask for one.
    G.responseLog = (cells, measure) => {
        const numbers = numbersOf(cells);
        const range = G.range(numbers);
        const floor = floorOf(numbers);
        const above = G.range(numbers.filter((v) => v > floor));
        const possible = !measure.up && Boolean(above) && range[0] >= 0;
        return { possible, wanted: possible && above[1] / above[0] > DECADES };
    };
}
