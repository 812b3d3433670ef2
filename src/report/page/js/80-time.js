// Where devices' time goes, how stale updates are, and who is lost where.
{
    const PARTS = [
        { name: "compute, used", colour: "var(--used)", fill: true },
        { name: "compute, wasted", colour: "var(--wasted)", fill: true, hatch: true },
        { name: "transfer", colour: "var(--transfer)", fill: true },
        { name: "idle", colour: "var(--idle)", fill: true },
        { name: "offline", colour: "var(--offline)", fill: true },
    ];

    function timeRows(variant) {
        const sums = G.addUp(variant, "time", (sum, e) => {
            const add = (name, value) => {
                sum[name] = (sum[name] ?? 0) + (value ?? 0);
            };
            add("compute, used", Math.max(0, (e.compute ?? 0) - (e.wasted ?? 0)));
            add("compute, wasted", e.wasted);
            add("transfer", e.transfer);
            add("idle", e.idle);
            add("offline", e.offline);
        });
        return [...sums]
            .map(([label, parts]) => ({ label, parts, total: G.sum(Object.values(parts)) }))
            .filter((row) => row.total > 0);
    }

    function busy({ title, parts, total }) {
        const computes = G.percent((parts["compute, used"] + parts["compute, wasted"]) / total);
        return `${title} computes ${computes} and is idle ${G.percent(parts.idle / total)} of the time`;
    }

    G.timeSection = ({ variants }) => {
        if (variants.every((variant) => timeRows(variant).length === 0)) return null;
        const rows = () => G.barRows(variants, timeRows);
        const chart = G.barChart({
            id: "time",
            title: "Device time by class",
            full: true,
            axis: "share of device time (%)",
            whole: "device time in all",
            unit: (v) => G.duration(v),
            keepLegend: true,
            note: "Idle: there, and not asked. Wasted: computed for an update that was not used.",
            series: () => PARTS,
            rows,
            alt: () => {
                const bars = rows().filter((row) => row.parts);
                return `Share of device time: ${bars.slice(0, 12).map(busy).join("; ")}.`;
            },
        });
        return G.section("time", "Where the time goes", chart.node);
    };

    // How many updates missed at most so many. Bins of seeds fit into each other: at the edges of the
    // widest everything is known exactly.
    function stale(variant) {
        const bins = variant.runs.flatMap((run) => run.staleness ?? []);
        if (bins.length === 0) return [];
        const total = G.sum(bins.map(([, , n]) => n));
        const width = Math.max(...bins.map(([lo, hi]) => hi - lo + 1));
        const last = Math.max(...bins.filter(([, , n]) => n > 0).map(([, hi]) => hi));
        const points = [];
        for (let edge = width - 1; edge < last + width; edge += width) {
            const share = G.sum(bins.filter(([, hi]) => hi <= edge).map(([, , n]) => n)) / total;
            points.push({ x: edge, y: share, lo: share, hi: share, n: 1 });
        }
        return points;
    }

    G.stalenessSection = ({ variants }) => {
        const lines = variants
            .map((variant) => ({ ...variant, points: stale(variant) }))
            .filter((line) => line.points.length > 0);
        if (lines.length === 0) return null;
        const chart = G.lineChart({
            id: "staleness",
            title: "Aggregations missed by the updates used",
            note: `Share of the updates that missed at most so many. ${lines
                .map((line) => line.name)
                .join(", ")}.`,
            keepLegend: true,
            lines: () => ({
                x: {
                    ...G.xRounds(G.end(lines) || 1),
                    label: "aggregations missed, at most",
                    name: "aggregations missed",
                },
                y: {
                    scale: G.linear(0, 1),
                    label: "share of updates",
                    format: (v) => G.percent(v),
                    exact: (v) => G.percent(v, 4),
                },
                lines,
            }),
        });
        return G.section("staleness", "Staleness", chart.node);
    };

    // Reasons in warm colours, places as shades of them.
    const REASONS = [
        ["late", "late", "var(--r0)"],
        ["no_step", "no step fitted", "var(--r1)"],
        ["dropped.download", "dropped at download", "var(--r2)"],
        ["dropped.compute", "dropped at compute", "var(--r3)"],
        ["dropped.upload", "dropped at upload", "var(--r4)"],
        ["offline.download", "offline at download", "var(--r5)"],
        ["offline.compute", "offline at compute", "var(--r6)"],
        ["offline.upload", "offline at upload", "var(--r7)"],
        ["unfinished", "unfinished at the end", "var(--r8)"],
    ];
    const pick = (entry, path) => path.split(".").reduce((at, key) => at?.[key], entry) ?? 0;

    function lossRows(variant) {
        const sums = G.addUp(variant, "outcomes", (sum, entry) => {
            sum.used = (sum.used ?? 0) + (entry.used ?? 0);
            for (const [path, name] of REASONS) sum[name] = (sum[name] ?? 0) + pick(entry, path);
        });
        return [...sums]
            .map(([label, parts]) => ({ label, parts, total: G.sum(Object.values(parts)) }))
            .filter((row) => row.total > 0);
    }

    G.lossSection = ({ variants }) => {
        const all = variants.flatMap(lossRows);
        const present = REASONS.filter(([, name]) => all.some((row) => row.parts[name] > 0));
        if (present.every(([path]) => path === "unfinished")) return null;
        const series = present.map(([, name, colour], i) => ({
            name,
            colour,
            fill: true,
            hatch: i % 2 === 1,
        }));
        const lost = (variant) => {
            const rows = lossRows(variant);
            return (
                G.sum(rows.map((row) => row.total - row.parts.used)) /
                (G.sum(rows.map((row) => row.total)) || 1)
            );
        };
        const chart = G.barChart({
            id: "losses",
            title: "Participations that were not used",
            axis: "share of participations (%)",
            whole: "participations in all",
            unit: (v) => G.number(v),
            keepLegend: true,
            series: () => series,
            rows: () => G.barRows(variants, lossRows),
            alt: () => {
                const shares = variants.map(
                    (variant) => `${variant.name} ${G.percent(lost(variant))}`,
                );
                return `Share of participations that were not used: ${shares.join(", ")}.`;
            },
        });
        return G.section("losses", "Drop-outs", chart.node);
    };
}
