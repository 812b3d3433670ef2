// The sweep's answer in words: what was best, how certain that is, and how much each key mattered.
{
    const MANY = 10;
    const join = (...sentences) => sentences.filter(Boolean).join(" ");

    function certainty(cell, measure) {
        if (cell.n < 2) return "";
        if (cell.std === 0) return ` (the same with all ${cell.n} seeds)`;
        const [lo, hi] = [cell.lo, cell.hi].map(measure.format);
        return ` (95\u00a0% interval ${lo} to ${hi}, ${cell.n} seeds)`;
    }

    function head(cell, measure, { folder, combinations }) {
        const { name } = cell.combination;
        const [value, sure] = [measure.format(cell.mean), certainty(cell, measure)];
        if (measure.kind === "target") {
            const goal = G.goalOf(folder.target);
            const first = combinations.length > 1 ? " first:" : "";
            return `${name} reached ${goal}${first} after ${value} of simulated time${sure}.`;
        }
        if (measure.kind === "metric") {
            const what = measure.label.replace("final ", "");
            const most = measure.up ? "highest" : "lowest";
            return `${name} ended with the ${most} ${what}: ${value}${sure}.`;
        }
        const nothing = folder.summary.timing_only
            ? "Nothing was trained: this is the schedule alone. "
            : "";
        return `${nothing}${name} has the lowest ${measure.label}: ${value}${sure}.`;
    }

    // The runner-up, and whether the seeds tell the two apart.
    function next([first, ...others], measure) {
        const alike = others.filter((cell) => cell.mean === first.mean).length;
        if (alike > 0) {
            const who = G.plural(alike, "other combination has", "other combinations have");
            return `${who} exactly the same value.`;
        }
        if (others.length === 0) return "";
        const [second] = others;
        const comes = `Next is ${second.combination.name} with ${measure.format(second.mean)}.`;
        const pair = G.paired(second.readings, first.readings);
        if (!G.isNumber(pair.lo)) return comes;
        const apart = pair.lo > 0 || pair.hi < 0;
        const zero = apart ? "leaves zero out" : "holds zero: the seeds do not tell them apart";
        return `${comes} Paired by seed, the 95\u00a0% interval of their difference ${zero}.`;
    }

    // For every dimension: how far the best and the worst mean are apart where all else is the
    // same.
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
        const told = effects(sweep, measure);
        if (told.length === 0) return "";
        told.sort((a, b) => G.median(b.spans) - G.median(a.spans));
        const one = ({ dimension, spans }, i) => {
            const [lo, middle, hi] = [
                Math.min(...spans),
                G.median(spans),
                Math.max(...spans),
            ].map(measure.format);
            const range = lo === hi ? "" : ` (median; ${lo} to ${hi})`;
            const { label } = dimension;
            return i === 0
                ? `the means with the best and the worst ${label} are ${middle} apart${range}`
                : `those of ${label} ${middle}${range}`;
        };
        return `With all else the same, ${told.map(one).join(", ")}.`;
    }

    function noise(sweep, measure) {
        const stds = sweep.combinations
            .map((combination) => G.cellOf(combination, measure).std)
            .filter(G.isNumber);
        if (stds.length === 0) return "";
        const spread = measure.format(G.median(stds));
        return `Seeds of one combination spread by ${spread} (standard deviation, median).`;
    }

    const LACKS = {
        "not reached": "did not reach the target with every seed",
        diverged: "diverged with at least one seed",
        "not measured": "have no measurement",
        "no finished run": "have no finished run",
    };

    // Combinations that have no mean, by why.
    function lacking(sweep, measure) {
        const cells = sweep.combinations.map((one) => G.cellOf(one, measure));
        const grid = sweep.dimensions.reduce((count, { values }) => count * values.length, 1);
        const absent = Math.max(0, grid - cells.length);
        const parts = G.unique(cells.map((cell) => cell.why).filter(Boolean)).map((why) => {
            const count = cells.filter((cell) => cell.why === why).length;
            return `${count} of ${grid} combinations ${LACKS[why]}`;
        });
        if (absent > 0) parts.push(`${absent} of ${grid} combinations have not been run`);
        return parts.length ? `${parts.join("; ")}.` : "";
    }

    function caution(ranked) {
        const [{ std }] = ranked;
        if (ranked.every((cell) => cell.n < 2))
            return "There is one seed, so nothing says how certain this is.";
        return ranked.length >= MANY && std > 0
            ? `The best of ${ranked.length} looks better than it is; new seeds give a fair number.`
            : "";
    }

    // The sentence, and the paragraphs below it.
    G.sweepAnswer = (sweep) => {
        const { main, combinations } = sweep;
        if (!main || !sweep.finished)
            return ["No run of this sweep is finished, so there is nothing to compare."];
        const ranked = G.rank(combinations, main);
        if (ranked.length === 0)
            return [`No combination has a mean ${main.label}.`, lacking(sweep, main)];
        return [
            head(ranked[0], main, sweep),
            join(next(ranked, main), caution(ranked)),
            join(mattered(sweep, main), noise(sweep, main), lacking(sweep, main)),
        ];
    };
}
