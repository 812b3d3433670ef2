// A sweep as a grid: what was swept, a combination for every place, and what was measured there.
{
    const FINISHED = ["complete", "diverged"];
    const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
    const distinct = (raws) =>
        raws.filter((raw, i) => raw !== undefined && raws.findIndex((one) => same(one, raw)) === i);

    // Null for a run without a sweep.
    function sweepOf(folder) {
        const { summary } = folder;
        if (!summary.swept?.length) return null;
        const runs = summary.variants ?? [];
        const named = [...runs, ...(summary.over_seeds ?? [])].filter((entry) => entry.swept);
        const own = (entry) => entry.variant ?? summary.name;
        const dimensions = [
            ...summary.swept.map(({ key, label, values }) => {
                // A folder merged of several sweeps may hold more than its list names.
                const met = named.map((entry) => entry.swept[key]);
                return G.dimension(key, label, distinct([...values, ...met]));
            }),
            G.dimension(G.VARIANT, "variant", G.unique(named.map(own))),
        ];
        dimensions[dimensions.length - 1].values.forEach((value, index) =>
            Object.assign(value, G.variantLook(index)),
        );
        const combinations = G.unique(named.map((entry) => entry.name)).map((name) => {
            const one = named.find((entry) => entry.name === name);
            const at = place(dimensions, one, own(one));
            return { name, at, runs: runs.filter((run) => run.name === name) };
        });
        const sweep = { folder, dimensions, combinations };
        sweep.keys = dimensions.slice(0, -1);
        sweep.variants = dimensions[dimensions.length - 1].values;
        const placeOf = (at) => dimensions.map(({ key }) => at[key]).join();
        const places = new Map(combinations.map((one) => [placeOf(one.at), one]));
        sweep.find = (at) => places.get(placeOf(at));
        sweep.finished = runs.some((run) => FINISHED.includes(run.status));
        sweep.measures = measuresOf(sweep);
        sweep.main = mainOf(sweep);
        return sweep;
    }

    // The number of the value in every dimension.
    function place(dimensions, entry, variant) {
        return Object.fromEntries(
            dimensions.map(({ key, values }) => {
                const raw = key === G.VARIANT ? variant : entry.swept[key];
                return [key, values.findIndex((value) => same(value.raw, raw))];
            }),
        );
    }

    // What can be compared. read() takes a finished run and returns its number.
    function measuresOf({ folder, combinations }) {
        const runs = combinations.flatMap((one) => one.runs);
        const metrics = G.metricsOf(
            [{ runs: [], over: { metrics: spreads(runs) } }],
            [folder],
        ).map((name) => ({
            key: name,
            kind: "metric",
            label: `final ${G.metric(name).label}`,
            up: G.metric(name).up,
            most: name === "test_accuracy" ? 1 : Infinity,
            format: (v) => G.brief(v, 3),
            exact: (v) => G.number(v, 5),
            read: (run) => run.metrics?.[name],
        }));
        const seconds = {
            up: false,
            time: true,
            format: (v) => G.duration(v, 3),
            exact: (v) => G.duration(v, 5),
        };
        const plain = (show) => ({
            up: false,
            format: (v) => show(v, 3),
            exact: (v) => show(v, 5),
        });
        const list = [
            ...metrics,
            {
                ...seconds,
                key: "time_to_target",
                kind: "target",
                label: "time to target",
                read: (run) => (run.target?.reached ? run.target.virtual_seconds : null),
            },
            {
                ...seconds,
                key: "virtual_seconds",
                label: "simulated time",
                read: (run) => run.virtual_seconds,
            },
            { ...plain(G.brief), key: "chi2", label: "χ² of those heard", read: (run) => run.chi2 },
            { ...plain(G.percent), key: "waste", label: "wasted work", read: (run) => run.waste },
            {
                ...plain(G.bytes),
                key: "bytes",
                label: "bytes, up and down",
                read: ({ bytes }) => bytes && bytes.up + bytes.down,
            },
        ];
        return list.filter((measure) =>
            measure.kind === "target"
                ? folder.target
                : runs.some((run) => G.isNumber(measure.read(run))),
        );
    }

    const spreads = (runs) =>
        Object.fromEntries(
            runs.flatMap((run) =>
                Object.entries(run.metrics ?? {})
                    .filter(([, value]) => G.isNumber(value))
                    .map(([name]) => [name, { mean: 0 }]),
            ),
        );

    // What the sweep is judged by: the time to the target if anybody reached it with all seeds,
    // else the metric, else how long it took.
    function mainOf({ measures, combinations }) {
        const target = measures.find((measure) => measure.kind === "target");
        const whole = (one) => G.isNumber(G.cellOf(one, target).mean);
        if (target && combinations.some(whole)) return target;
        return measures.find((measure) => measure.kind === "metric") ?? measures[0] ?? null;
    }

    // One run under a measure. A run without a number says why; where the number would only have
    // come later, beyond says later than what.
    function reading(run, measure) {
        const value = measure.read(run);
        if (run.diverged || run.status === "diverged")
            return { seed: run.seed, value: null, beyond: Infinity, why: "diverged" };
        if (G.isNumber(value)) return { seed: run.seed, value };
        const why = measure.kind === "target" ? "not reached" : "not measured";
        const beyond = measure.kind === "target" ? run.virtual_seconds : NaN;
        return { seed: run.seed, value: null, beyond, why };
    }

    // A combination under a measure. Where a run has no number, a mean of the others would flatter:
    // then there is none. Unfinished runs do not count.
    G.cellOf = (combination, measure) => {
        const finished = (combination?.runs ?? []).filter((run) => FINISHED.includes(run.status));
        const readings = finished.map((run) => reading(run, measure));
        const values = readings.filter((one) => G.isNumber(one.value)).map((one) => one.value);
        const missing = readings.filter((one) => !G.isNumber(one.value));
        const whole = missing.length === 0;
        return {
            combination,
            readings,
            missing,
            total: readings.length,
            ...G.estimate(whole ? values : []),
            why: missing.length ? missing[0].why : readings.length ? "" : "no finished run",
        };
    };

    // The best of some combinations that have a mean, first; ties keep their order.
    G.rank = (combinations, measure) =>
        combinations
            .map((one) => G.cellOf(one, measure))
            .filter((cell) => G.isNumber(cell.mean))
            .sort((a, b) => (measure.up ? b.mean - a.mean : a.mean - b.mean));

    // "0.83 (95 % interval 0.81 to 0.85)", or what is there instead.
    G.cellText = (cell, measure) => {
        if (!G.isNumber(cell.mean)) return G.lack(cell);
        const [mean, lo, hi] = [cell.mean, cell.lo, cell.hi].map(measure.format);
        return G.isNumber(cell.lo)
            ? `${mean} (95\u00a0% interval ${lo} to ${hi})`
            : `${mean} (one seed, no interval)`;
    };
    G.lack = ({ why, missing, total }) =>
        total > 1 ? `${why} with ${missing.length} of ${total} seeds` : why;

    G.sweepOf = sweepOf;
}
