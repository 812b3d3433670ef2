// The sweep's answer in words: what was best, how certain that is, and how much each key mattered.
{
    const MANY = 10;

    function head(cell, measure, { folder }) {
        const { name } = cell.combination;
        const seeds = cell.n > 1 ? `, ${cell.n} seeds` : "";
        const sure = cell.std === 0
            ? ` (the same with all ${cell.n} seeds)`
            : G.isNumber(cell.lo)
            ? ` (95\u00a0% interval ${measure.format(cell.lo)} to ${measure.format(cell.hi)}${seeds})`
            : "";
        const value = `${measure.format(cell.mean)}${sure}`;
        if (measure.kind === "target")
            return `${name} reached ${G.goalOf(folder.target)} first: after ${measure.format(cell.mean)} of simulated time${sure}.`;
        if (measure.kind === "metric")
            return `${name} ended with the ${measure.up ? "highest" : "lowest"} ${measure.label.replace("final ", "")}: ${value}.`;
        const nothing = folder.summary.timing_only
            ? "Nothing was trained: this is the schedule alone. "
            : "";
        return `${nothing}${name} has the lowest ${measure.label}: ${value}.`;
    }

    // The runner-up, and whether the seeds tell the two apart.
    function next(ranked, measure) {
        const [first, ...others] = ranked;
        const alike = others.filter((cell) => cell.mean === first.mean);
        if (alike.length > 0)
            return `${G.plural(alike.length, "other combination has", "other combinations have")} exactly the same value.`;
        if (others.length === 0) return "";
        const [second] = others;
        const comes = `Next is ${second.combination.name} with ${measure.format(second.mean)}`;
        const pair = G.paired(second.readings, first.readings);
        if (!G.isNumber(pair.lo)) return `${comes}.`;
        const apart = pair.lo > 0 || pair.hi < 0;
        return (
            `${comes}. ` +
            (apart
                ? "Paired by seed, the 95\u00a0% interval of their difference leaves zero out."
                : "Paired by seed, the 95\u00a0% interval of their difference holds zero: the seeds do not tell these two apart.")
        );
    }

    // For every dimension: how far the best and the worst mean are apart where all else is the same.
    function effects(sweep, measure) {
        return sweep.dimensions
            .filter(({ values }) => values.length > 1)
            .map((dimension) => {
                const groups = new Map();
                for (const one of sweep.combinations) {
                    const { mean } = G.cellOf(one, measure);
                    if (!G.isNumber(mean)) continue;
                    const rest = JSON.stringify({ ...one.at, [dimension.key]: null });
                    groups.set(rest, [...(groups.get(rest) ?? []), mean]);
                }
                const spans = [...groups.values()]
                    .filter((means) => means.length > 1)
                    .map((means) => G.range(means)[1] - G.range(means)[0]);
                return { dimension, spans };
            })
            .filter(({ spans }) => spans.length > 0);
    }

    function mattered(sweep, measure) {
        const told = effects(sweep, measure).sort((a, b) => G.median(b.spans) - G.median(a.spans));
        if (told.length === 0) return "";
        const one = ({ dimension, spans }, i) => {
            const middle = measure.format(G.median(spans));
            const [lo, hi] = G.range(spans);
            const alike = measure.format(lo) === measure.format(hi);
            const range =
                !alike ? ` (median; ${measure.format(lo)} to ${measure.format(hi)})` : "";
            return `${i === 0 ? `the means with the best and the worst ${dimension.label} are` : `of ${dimension.label}`} ${middle}${i === 0 ? " apart" : ""}${range}`;
        };
        const stds = sweep.combinations
            .map((combination) => G.cellOf(combination, measure).std)
            .filter(G.isNumber);
        const noise = stds.length
            ? ` Seeds of one combination spread by ${measure.format(G.median(stds))} (standard deviation, median).`
            : "";
        return `With all else the same, ${told.map(one).join(", those ")}.${noise}`;
    }

    // Combinations that have no mean, by why.
    function lacking(sweep, measure) {
        const cells = sweep.combinations.map((one) => G.cellOf(one, measure));
        const reasons = G.unique(cells.map((cell) => cell.why).filter(Boolean));
        const grid = sweep.dimensions.reduce((count, { values }) => count * values.length, 1);
        const absent = Math.max(0, grid - cells.length);
        const words = {
            "not reached": "did not reach the target with every seed",
            diverged: "diverged with at least one seed",
            "not measured": "have no measurement",
            "no finished run": "have no finished run",
        };
        const parts = reasons.map((why) => {
            const count = cells.filter((cell) => cell.why === why).length;
            return `${count} of ${grid} combinations ${words[why]}`;
        });
        if (absent > 0) parts.push(`${absent} of ${grid} combinations have not been run`);
        return parts.length ? `${parts.join("; ")}.` : "";
    }

    function caution(ranked) {
        if (ranked.every((cell) => cell.n < 2))
            return "There is one seed, so nothing says how certain this is.";
        if (ranked.length >= MANY && ranked[0].std > 0)
            return `The best of ${ranked.length} looks better than it is; new seeds give a fair number.`;
        return "";
    }

    const join = (...sentences) => sentences.filter(Boolean).join(" ");

    // The sentence, and the paragraphs below it.
    G.sweepAnswer = (sweep) => {
        const { main, combinations } = sweep;
        if (!main) return ["Nothing was finished, so there is nothing to show."];
        const ranked = G.rank(combinations, main);
        if (ranked.length === 0)
            return [`No combination has a mean ${main.label}.`, lacking(sweep, main)];
        return [
            head(ranked[0], main, sweep),
            join(next(ranked, main), caution(ranked)),
            join(mattered(sweep, main), lacking(sweep, main)),
        ];
    };
}
