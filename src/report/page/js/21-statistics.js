// What a few seeds say of a mean: Student's t interval, and differences between runs with the same
// seed.
{
    const LEVEL = 0.95;

    // The probability that |T| < t, for whole degrees of freedom: the finite series of Abramowitz
    // and Stegun, 26.7.3 and 26.7.4. Exact up to rounding.
    function within(t, freedom) {
        const angle = Math.atan(t / Math.sqrt(freedom));
        const [sine, cosine] = [Math.sin(angle), Math.cos(angle)];
        const odd = freedom % 2 === 1;
        let term = odd ? cosine : 1;
        let total = freedom > 1 ? term : 0;
        for (let k = odd ? 3 : 2; k <= freedom - 2; k += 2) {
            term *= (cosine * cosine * (k - 1)) / k;
            total += term;
        }
        return odd ? (2 / Math.PI) * (angle + sine * total) : sine * total;
    }

    const known = new Map();

    // How many standard errors the interval reaches to each side: 12.71 for two seeds, 2.776 for
    // five.
    function studentT(freedom) {
        if (!known.has(freedom)) {
            let [lo, hi] = [0, 20];
            for (let i = 0; i < 60; i += 1) {
                const middle = (lo + hi) / 2;
                if (within(middle, freedom) < LEVEL) lo = middle;
                else hi = middle;
            }
            known.set(freedom, (lo + hi) / 2);
        }
        return known.get(freedom);
    }

    // Mean, standard deviation and interval; with fewer than two values there is no interval.
    function estimate(values) {
        const n = values.length;
        if (n === 0) return { n, mean: null, std: null, lo: null, hi: null };
        const mean = G.sum(values) / n;
        if (n === 1) return { n, mean, std: null, lo: null, hi: null };
        const std = Math.sqrt(G.sum(values.map((value) => (value - mean) ** 2)) / (n - 1));
        const reach = (studentT(n - 1) * std) / Math.sqrt(n);
        return { n, mean, std, lo: mean - reach, hi: mean + reach };
    }

    // Two lists of readings, paired by seed. A reading has a value, or beyond: all that is known is
    // that the value would be larger than this. Then the pair has no difference, but it may have a
    // sign.
    function paired(ours, theirs) {
        const pairs = ours.flatMap((one) => {
            const other = theirs.find((candidate) => candidate.seed === one.seed);
            return other ? [[one, other]] : [];
        });
        const signs = pairs.map(([a, b]) => sign(a, b)).filter((s) => s !== null);
        const whole = pairs.filter(([a, b]) => G.isNumber(a.value) && G.isNumber(b.value));
        return {
            ...estimate(
                whole.length === pairs.length ? whole.map(([a, b]) => a.value - b.value) : [],
            ),
            pairs: pairs.length,
            censored: pairs.length - whole.length,
            lower: signs.filter((s) => s < 0).length,
            higher: signs.filter((s) => s > 0).length,
            equal: signs.filter((s) => s === 0).length,
        };
    }

    function sign(a, b) {
        if (G.isNumber(a.value) && G.isNumber(b.value)) return Math.sign(a.value - b.value);
        if (G.isNumber(a.value) && a.value <= b.beyond) return -1;
        if (G.isNumber(b.value) && b.value <= a.beyond) return 1;
        return null;
    }

    // The middle of a list.
    function median(values) {
        const sorted = [...values].sort((a, b) => a - b);
        const half = sorted.length >> 1;
        return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    Object.assign(G, { studentT, estimate, paired, median });
}
