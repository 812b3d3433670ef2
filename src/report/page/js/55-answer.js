// The answer first: one or two plain sentences, and a table with a row for every variant.
{
    // The bar for being first in a sentence: what reads the same is the same.
    const same = (a, b) => G.number(a) === G.number(b);

    function reached(variant) {
        const times = variant.seeds
            .filter((seed) => seed.target?.reached)
            .map((seed) => seed.target);
        if (times.length === 0) return null;
        const mean = (of) => G.sum(times.map(of)) / times.length;
        return {
            seconds: mean((t) => t.virtual_seconds ?? 0),
            rounds: mean((t) => t.rounds ?? 0),
            count: times.length,
            all: times.length === variant.seeds.length,
        };
    }

    function goalOf({ metric, at_least, at_most }) {
        const bound = G.isNumber(at_least)
            ? `≥\u00a0${G.brief(at_least)}`
            : `≤\u00a0${G.brief(at_most)}`;
        return `${G.metric(metric).label} ${bound}`;
    }

    function sentence(variants, folders, metrics) {
        if (variants.length === 0) return "Nothing was finished, so there is nothing to show.";
        if (folders.every((folder) => folder.summary.timing_only)) return timingSentence(variants);
        const target = folders[0].target;
        const alike = folders.every(
            (folder) => JSON.stringify(folder.target) === JSON.stringify(target),
        );
        if (target && alike) return targetSentence(variants, target);
        if (metrics.length > 0) return metricSentence(variants, G.metric(metrics[0]));
        return "No metric was measured before the run ended.";
    }

    function targetSentence(variants, target) {
        const goal = goalOf(target);
        const there = variants
            .map((variant) => ({ variant, when: reached(variant) }))
            .filter((one) => one.when);
        // Reaching it with some seeds only is no match for reaching it with all.
        there.sort((a, b) => b.when.all - a.when.all || a.when.seconds - b.when.seconds);
        if (there.length === 0) {
            const who =
                variants.length === 1 ? `${variants[0].name} did not reach` : "No variant reached";
            return `${who} the target (${goal}). ${closest(variants, target)}`;
        }
        const [first, second] = there;
        const when = (one) => G.duration(one.when.seconds);
        const how = variants.length > 1 ? " first" : "";
        const rounds = G.plural(Math.round(first.when.rounds), "round");
        const head =
            `${first.variant.name} reached ${goal}${how}, ` +
            `after ${when(first)} of simulated time (${rounds})`;
        const ratio = second ? second.when.seconds / first.when.seconds : 0;
        const times = `${G.trimmed(ratio, 3)} times as long`;
        const next =
            ratio > 1
                ? `; ${second.variant.name} came next and took ${when(second)}, ${times}`
                : "";
        const missing = variants
            .filter((variant) => !reached(variant))
            .map((variant) => variant.name);
        return `${head}${next}.${missing.length ? ` ${few(missing)} did not reach it.` : ""}`;
    }

    function closest(variants, target) {
        const best = ranked(variants, G.metric(target.metric))[0];
        if (!best) return "";
        return variants.length === 1
            ? `It ended at ${G.number(best.value)}.`
            : `${best.variant.name} came closest, with ${G.number(best.value)}.`;
    }

    const few = (names) => (names.length > 4 ? `${names.length} variants` : G.list(names));

    function ranked(variants, metric) {
        return variants
            .map((variant) => ({ variant, value: variant.over?.metrics?.[metric.name]?.mean }))
            .filter((one) => G.isNumber(one.value))
            .sort((a, b) => (metric.up ? b.value - a.value : a.value - b.value));
    }

    function length({ over }) {
        const rounds = G.plural(Math.round(over?.rounds?.mean ?? 0), "round");
        return `${G.duration(over?.virtual_seconds?.mean)} of simulated time (${rounds})`;
    }

    function metricSentence(variants, metric) {
        const order = ranked(variants, metric);
        if (order.length === 0) return "No variant came to a final measurement.";
        const [first] = order;
        const value = G.number(first.value);
        if (order.length === 1)
            return `${first.variant.name} ended with a ${metric.label} of ${value} after ${length(first.variant)}.`;
        const ties = order.filter((one) => same(one.value, first.value));
        if (ties.length === order.length)
            return `All variants ended with the same ${metric.label}, ${value}.`;
        const others = order.filter((one) => !same(one.value, first.value));
        const last = others[others.length - 1];
        const rest =
            others.length === 1
                ? `${last.variant.name} ended at ${G.number(last.value)}`
                : `the others ended between ${G.number(others[0].value)} and ${G.number(last.value)} (${last.variant.name})`;
        // Of those who are equally good, the quickest.
        const seconds = ({ variant }) => variant.over?.virtual_seconds?.mean ?? Infinity;
        const [quickest] = ties.sort((a, b) => seconds(a) - seconds(b));
        const names = few(ties.map((one) => one.variant.name));
        const who = ties.length > 1 ? `${quickest.variant.name} ` : "";
        const head = `${names} ended with the ${metric.up ? "highest" : "lowest"} ${metric.label}, ${value}`;
        return `${head}, ${who}after ${length(quickest.variant)}; ${rest}.`;
    }

    function timingSentence(variants) {
        const timed = variants.filter((variant) => G.isNumber(variant.over?.virtual_seconds?.mean));
        if (timed.length === 0) return "No variant came to its end.";
        const order = [...timed].sort(
            (a, b) => a.over.virtual_seconds.mean - b.over.virtual_seconds.mean,
        );
        const head = `Nothing was trained: this is the schedule alone. ${order[0].name} took ${length(order[0])}`;
        return order.length === 1
            ? `${head}.`
            : `${head}, the least; ${order[order.length - 1].name} took ${length(order[order.length - 1])}.`;
    }

    // Who is not heard is what stragglers are about, so it gets a sentence where it matters.
    function fairness(variants) {
        const of = (key) =>
            variants
                .filter((v) => G.isNumber(v.over?.[key]?.mean))
                .sort((a, b) => b.over[key].mean - a.over[key].mean);
        const silent = of("missing_mass").filter(
            (variant) => variant.over.missing_mass.mean >= 0.005,
        );
        if (silent.length > 0) {
            const [most] = silent;
            return `${most.name} never heard the clients that hold ${G.percent(most.over.missing_mass.mean)} of the data.`;
        }
        const order = of("chi2");
        const [worst, best] = [order[0], order[order.length - 1]];
        if (!worst) return null;
        if (worst.over.chi2.mean < 0.01)
            return "Everybody was heard according to their data (χ² below 0.01).";
        if (order.length === 1)
            return `Clients were not heard according to their data: χ² is ${G.number(worst.over.chi2.mean)}.`;
        return (
            `Clients' part in the model differs most from their part in the data with ${worst.name} ` +
            `(χ² = ${chi(worst.over.chi2.mean)}), least with ${best.name} (${chi(best.over.chi2.mean)}).`
        );
    }

    // What is left of χ² by rounding is nothing.
    const chi = (value, digits) => (Math.abs(value) < 1e-12 ? "0" : G.number(value, digits));

    // The number itself is in the cell, whatever the text rounds it to.
    const data = (value, text) =>
        G.el("data", { value: G.isNumber(value) ? String(value) : "" }, text);

    function spread(entry, show) {
        if (!entry || !G.isNumber(entry.mean)) return ["–"];
        const deviation = G.isNumber(entry.std)
            ? G.el("small", {}, ` ± ${entry.std === 0 ? "0" : show(entry.std, 2)}`)
            : null;
        return [data(entry.mean, show(entry.mean)), deviation];
    }

    function goalCell(variant) {
        const when = reached(variant);
        if (!when) return [variant.folder.target ? "not reached" : "–"];
        return [
            data(when.seconds, G.duration(when.seconds)),
            when.all ? null : G.el("small", {}, ` ${when.count} of ${variant.seeds.length} seeds`),
        ];
    }

    function columns(variants, folders, metrics) {
        const target = folders.some((folder) => folder.target);
        const plain = (key, title, show, best) => ({
            key,
            title,
            best,
            show,
            entry: (v) => v.over?.[key],
            cell: (v) => spread(v.over?.[key], show),
        });
        return [
            ...metrics.map((name) => ({
                key: name,
                title: G.metric(name).label,
                best: G.metric(name).up ? 1 : -1,
                entry: (v) => v.over?.metrics?.[name],
                cell: (v) => spread(v.over?.metrics?.[name], G.number),
            })),
            target
                ? {
                      key: "time_to_target",
                      title: "time to target",
                      best: -1,
                      entry: (v) => ({ mean: reached(v)?.all ? reached(v).seconds : null }),
                      cell: goalCell,
                  }
                : null,
            plain("virtual_seconds", "simulated time", G.duration),
            plain("rounds", "rounds", G.number),
            plain("waste", "wasted work", G.percent, -1),
            plain("chi2", "χ² of those heard", chi, -1),
            plain("missing_mass", "never heard", G.percent, -1),
        ].filter(Boolean);
    }

    // Nothing stands out where most are alike.
    function bestOf(column, variants) {
        const values = variants.map((v) => column.entry(v)?.mean).filter(G.isNumber);
        if (!column.best || values.length < 2) return null;
        const [lo, hi] = G.range(values);
        const show = column.show ?? G.number;
        const best = column.best > 0 ? hi : lo;
        return values.filter((value) => show(value) === show(best)).length > values.length / 2
            ? null
            : best;
    }

    // Figures of a variant of which no seed came to its end are those of what there is.
    function soFar(variant) {
        const over = variant.seeds.some((seed) => ["complete", "diverged"].includes(seed.status));
        return over || variant.seeds.length === 0 ? null : G.el("small", {}, " so far");
    }

    function table(variants, folders, metrics) {
        const all = columns(variants, folders, metrics);
        const best = all.map((column) => bestOf(column, variants));
        const row = (variant) =>
            G.el(
                "tr",
                { "data-variant": variant.name },
                G.el("th", { scope: "row" }, G.swatch(variant), " ", variant.name, soFar(variant)),
                all.map((column, i) => {
                    const mean = column.entry(variant)?.mean;
                    const won =
                        best[i] !== null &&
                        G.isNumber(mean) &&
                        (column.show ?? G.number)(mean) === (column.show ?? G.number)(best[i]);
                    return G.el(
                        "td",
                        { "data-column": column.key, class: won ? "best" : null },
                        column.cell(variant),
                    );
                }),
            );
        const seeds = Math.max(
            0,
            ...variants.map((variant) => variant.over?.seeds ?? variant.seeds.length),
        );
        const note = [
            seeds > 1 ? `Mean ± standard deviation over ${seeds} seeds.` : "",
            best.some((b) => b !== null) ? "Bold: the best of its column." : "",
        ]
            .filter(Boolean)
            .join(" ");
        return [
            G.el(
                "div",
                { class: "scroll", tabindex: 0 },
                G.el(
                    "table",
                    { class: "answer" },
                    G.el(
                        "thead",
                        {},
                        G.el(
                            "tr",
                            {},
                            G.el("th", { scope: "col" }, "variant"),
                            all.map((c) => G.el("th", { scope: "col" }, c.title)),
                        ),
                    ),
                    G.el("tbody", {}, variants.map(row)),
                ),
            ),
            note ? G.text(note, "note") : null,
        ];
    }

    G.answer = ({ folders, variants }, metrics) =>
        G.el(
            "section",
            { id: "answer" },
            G.el("h2", {}, "The answer"),
            G.el("p", { class: "sentence" }, sentence(variants, folders, metrics)),
            G.text(fairness(variants) ?? "", "second"),
            variants.length ? table(variants, folders, metrics) : null,
        );
    G.goalOf = goalOf;
    // The table of a sweep has the same columns and says the same of who is heard.
    G.answerParts = { sentence, fairness, columns, soFar };
}
