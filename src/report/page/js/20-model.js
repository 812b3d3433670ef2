// From the folders of the page to variants, and from seeds to one curve with a band.
{
    const POINTS = 600;

    function read() {
        const data = JSON.parse(document.getElementById("data").textContent);
        const folders = data.folders ?? [];
        const variants = folders.flatMap((folder) => variantsOf(folder, folders.length > 1));
        variants.forEach((variant, index) =>
            Object.assign(variant, { index, ...G.variantLook(index) }),
        );
        return { folders, variants };
    }

    // A run that failed early may be missing in some of the lists; whoever is named anywhere counts.
    function variantsOf(folder, several) {
        const { summary, runs = [] } = folder;
        const over = summary.over_seeds ?? [];
        const ended = summary.variants ?? [];
        const names = G.unique(
            [...ended, ...over].map((v) => v.name).concat(runs.map((run) => run.variant)),
        );
        return names.map((name) => ({
            name: several ? `${folder.folder} · ${name}` : name,
            plain: name,
            folder,
            over: over.find((entry) => entry.name === name) ?? null,
            seeds: ended.filter((entry) => entry.name === name),
            runs: runs.filter((run) => run.variant === name),
        }));
    }

    // Curves of several seeds as points with mean, smallest and largest. Between two evaluations a
    // curve is taken as straight; one that has ended keeps its last value, so that the last mean is
    // the mean of the last values.
    function merge(curves, { hold = true } = {}) {
        const clean = curves.map(tidy).filter((curve) => curve.length > 0);
        if (clean.length === 0) return [];
        if (clean.length === 1) return clean[0].map(([x, y]) => ({ x, y, lo: y, hi: y, n: 1 }));
        const xs = G.unique(clean.flatMap((curve) => curve.map(([x]) => x))).sort((a, b) => a - b);
        const walkers = clean.map((curve) => walker(curve, hold));
        return G.thin(xs, POINTS).map((x) => {
            const values = walkers.map((walk) => walk(x)).filter(G.isNumber);
            const [lo, hi] = G.range(values);
            return { x, y: G.sum(values) / values.length, lo, hi, n: values.length };
        });
    }

    function tidy({ x = [], y = [] }) {
        return x.map((at, i) => [at, y[i]]).filter(([a, b]) => G.isNumber(a) && G.isNumber(b));
    }

    // Values at rising x; behind the last one it goes on, or there is none.
    function walker(curve, hold) {
        let i = 0;
        return (x) => {
            while (i + 1 < curve.length && curve[i + 1][0] <= x) i += 1;
            const [x0, y0] = curve[i];
            if (x < x0) return null;
            if (x === x0) return y0;
            if (i + 1 === curve.length) return hold ? y0 : null;
            const [x1, y1] = curve[i + 1];
            return y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
        };
    }

    // Metrics that anybody measured, the one that matters most first: the target's, if there is one.
    function metricsOf(variants, folders) {
        const named = variants.flatMap((variant) =>
            variant.runs.flatMap((run) =>
                Object.entries(run.curves?.values ?? {})
                    .filter(([, values]) => values.some(G.isNumber))
                    .map(([name]) => name),
            ),
        );
        const ended = variants.flatMap((variant) =>
            Object.entries(variant.over?.metrics ?? {})
                .filter(([, spread]) => G.isNumber(spread?.mean))
                .map(([name]) => name),
        );
        const all = G.unique([...named, ...ended]);
        const order = G.unique([
            ...folders.map((folder) => folder.target?.metric),
            ...G.METRIC_ORDER,
            ...all,
        ]);
        return order.filter((name) => all.includes(name));
    }

    // Classes by name over all runs, in order of appearance, each with its look.
    function classesOf(variants) {
        const names = G.unique(
            variants.flatMap((v) =>
                v.runs.flatMap((run) => (run.classes ?? []).map((c) => c.name)),
            ),
        );
        return names.map((name, index) => ({ name, ...G.classLook(index) }));
    }

    // Numbers of all seeds of a variant, added up by class name.
    function addUp(variant, list, into) {
        const sums = new Map();
        for (const run of variant.runs) {
            for (const entry of run[list] ?? []) {
                const name = run.classes?.[entry.class]?.name ?? "–";
                if (!sums.has(name)) sums.set(name, {});
                into(sums.get(name), entry);
            }
        }
        return sums;
    }

    Object.assign(G, { read, merge, metricsOf, classesOf, addUp });
    G.severalSeeds = (variants) => variants.some((variant) => variant.runs.length > 1);
}
