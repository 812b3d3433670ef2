// One variant may take forty times as long as another. Then the reader chooses how much of the time
// axis to see: up to the end of any of them.
{
    const TWICE = 2;

    // Ends that are well before the last one, each with the first variant that ends there.
    function earlier(lines) {
        const last = G.end(lines);
        const ends = new Map();
        for (const { name, points } of lines) {
            const end = points.length ? points[points.length - 1].x : 0;
            if (end > 0 && end * TWICE < last && !ends.has(end)) ends.set(end, name);
        }
        return [...ends].sort((a, b) => a[0] - b[0]);
    }

    // A control, or null where all take about as long.
    G.until = (lines, change) => {
        const ends = earlier(lines);
        if (ends.length === 0) return null;
        const options = ends.map(([end, name]) => [
            String(end),
            `${name} ends (${G.duration(end)})`,
        ]);
        return G.choice("until", [["", "the end"], ...options], "", (end) =>
            change(end === "" ? null : Number(end)),
        );
    };
}
