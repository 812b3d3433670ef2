// The section of a sweep: the answer, response curves, a heat map, paired differences.
{
    const FEW_LINES = 6;
    const FIELD_FROM = 9;
    const several = (dimension) => dimension.values.length > 1;

    // What is on which axis at first: the first key below, variants (or the second key) as lines, the
    // next key as panels. Many lines get a panel each, with all others behind.
    function firstView(sweep) {
        const [x, ...keys] = [...sweep.keys].sort((a, b) => several(b) - several(a));
        const variant = sweep.dimensions[sweep.dimensions.length - 1];
        const free = keys.filter(several);
        const lines = several(variant) ? variant : (free.shift() ?? variant);
        const panels = free[0] ?? (lines.values.length > FEW_LINES ? lines : null);
        const best = sweep.main && G.rank(sweep.combinations, sweep.main)[0]?.combination;
        const at = (best ?? sweep.combinations[0])?.at ?? {};
        return { x, lines, panels, fixed: { ...at }, hidden: new Set() };
    }

    const names = (list) => list.map((one) => [one.key, one.label]);

    // Selects for what is on no axis.
    function fixedChoices(sweep, taken, fixed, change) {
        return sweep.dimensions
            .filter((one) => several(one) && !taken.includes(one))
            .map((one) =>
                G.choice(
                    one.label,
                    one.values.map((value) => [String(value.index), value.text]),
                    String(fixed[one.key]),
                    (index) => {
                        fixed[one.key] = Number(index);
                        change();
                    },
                ),
            );
    }

    // Axes are chosen one by one; two that would be the same change places.
    function axisChoices(sweep, view, roles, change) {
        const all = sweep.dimensions.filter(several);
        const pick = (role, key) => {
            const before = view[role];
            const chosen = all.find((one) => one.key === key) ?? null;
            for (const other of Object.keys(roles))
                if (other !== role && chosen && view[other] === chosen && !(pair(role, other))) view[other] = before;
            view[role] = chosen;
            if (view.panels === view.x) view.panels = null;
            change(role);
        };
        const pair = (a, b) => [a, b].sort().join() === "lines,panels";
        return Object.entries(roles)
            .filter(([role]) => role === "panels" || all.length > 2)
            .map(([role, label]) => {
                const options =
                    role === "panels"
                        ? [["", "one for all"], ...names(all.filter((one) => one !== view.x)).map(([key, text]) => [key, `one for each ${text}`])]
                        : names(all);
                return options.length > 1 ? G.choice(label, options, view[role]?.key ?? "", (key) => pick(role, key)) : null;
            });
    }

    // Lights one line in all charts of the section, and fades the others.
    function lighter(root) {
        return (index) => {
            root.classList.toggle("lighting", index !== null);
            for (const node of root.querySelectorAll("[data-line]"))
                node.classList.toggle("lit", node.dataset.line === String(index));
        };
    }

    // The legend of all charts in one: point to light a line, press to leave it out.
    function legend(view, change) {
        const { values } = view.lines;
        if (values.length < 2) return null;
        const draw = () => keys.forEach((node, i) => node.setAttribute("aria-pressed", String(!view.hidden.has(i))));
        const keys = values.map((value, index) => {
            const light = () => view.light(view.hidden.has(index) ? null : index);
            return G.el(
                "button",
                {
                    type: "button",
                    class: "key",
                    "data-line": index,
                    "data-series-name": value.text,
                    pointerenter: light,
                    pointerleave: () => view.light(null),
                    focus: light,
                    blur: () => view.light(null),
                    click() {
                        if (!view.hidden.delete(index) && view.hidden.size < values.length - 1) view.hidden.add(index);
                        draw();
                        change();
                    },
                },
                G.swatch(G.lineLook(view.lines, value)),
                G.el("span", {}, value.text),
            );
        });
        const search = (words) => {
            const found = values.filter((value) => value.text.toLowerCase().includes(words.trim().toLowerCase()));
            view.hidden = new Set(found.length ? values.filter((v) => !found.includes(v)).map((v) => v.index) : []);
            draw();
            change();
        };
        draw();
        return G.el(
            "div",
            { class: "legend", role: "group", "aria-label": `Lines: ${view.lines.label}` },
            keys,
            values.length >= FIELD_FROM ? G.search(`only ${view.lines.label} with`, search) : null,
        );
    }

    function curves(sweep, id) {
        const view = firstView(sweep);
        const root = G.el("div", { class: "sweep-curves" });
        view.light = lighter(root);
        const metrics = sweep.measures.filter((measure) => measure.kind === "metric");
        const charts = [];
        const add = (part, title, measure, controls) =>
            charts.push(G.sweepCurves(sweep, view, { id: `${id}-${part}`, title, measure, controls }));
        if (metrics.length) {
            const state = { measure: metrics[0] };
            const select = metrics.length > 1 && G.choice("metric", metrics.map((m) => [m.key, G.metric(m.key).label]), metrics[0].key, (key) => {
                state.measure = metrics.find((m) => m.key === key);
                charts[0].forget();
                charts[0].refresh();
            });
            add("metric", "Final metric", () => state.measure, select ? [select] : []);
        }
        const plain = [
            ["time_to_target", "target", "Time to target"],
            ...(metrics.length ? [] : [["virtual_seconds", "seconds", "Simulated time"]]),
            ["chi2", "chi2", "χ²: how unequally clients are heard"],
            ["bytes", "bytes", "Bytes sent, up and down"],
        ];
        for (const [key, part, title] of plain) {
            const measure = sweep.measures.find((one) => one.key === key);
            if (measure) add(part, title, () => measure, []);
        }
        if (charts.length === 0) return null;
        const controls = G.el("div", { class: "controls" });
        const key = G.el("div", {});
        const sheet = G.el("div", {}, charts.map((chart) => chart.node));
        const change = () => {
            sheet.className = view.panels ? "" : "pair";
            charts.forEach((chart) => chart.refresh());
        };
        const build = (role) => {
            if (role === "lines") view.hidden = new Set();
            const roles = { x: "below", lines: "lines", panels: "panels" };
            controls.replaceChildren(
                ...[
                    ...axisChoices(sweep, view, roles, build),
                    ...fixedChoices(sweep, [view.x, view.lines, view.panels], view.fixed, change),
                ].filter(Boolean),
            );
            // The choice that was made keeps the keyboard.
            const labels = [...controls.querySelectorAll("label")];
            if (role) labels.find((node) => node.firstChild.textContent.trim() === roles[role])?.querySelector("select").focus();
            key.replaceChildren(...[legend(view, change)].filter(Boolean));
            change();
        };
        build();
        root.append(G.el("h3", {}, "Response curves"), G.text(explained(sweep, metrics), "note"), controls, key, sheet);
        return root;
    }

    function explained(sweep, metrics) {
        const seeds = Math.max(0, ...sweep.combinations.map((one) => one.runs.length));
        const missing = sweep.combinations.some((one) => sweep.measures.some((m) => G.cellOf(one, m).missing.length));
        const stops = metrics.length && sweep.combinations.some((one) => one.runs.some((run) => run.stopped_by === "target"));
        return [
            seeds > 1
                ? "Marks are means over seeds, whiskers 95\u00a0% intervals (Student's t), dots the seeds. With many lines, point at one to see its whiskers and dots."
                : "Marks are single runs: with one seed there is no interval.",
            missing ? "A cross in the strip on top: a seed has no value there (did not reach the target, diverged), so there is no mean." : "",
            stops ? "Runs stop at the target, so their final metrics and bytes are those of that moment." : "",
        ]
            .filter(Boolean)
            .join(" ");
    }

    function map(sweep, id) {
        const all = sweep.dimensions.filter(several);
        const keys = sweep.keys.filter(several);
        if (all.length < 2 || !sweep.main || (keys.length < 2 && sweep.variants.length < FEW_LINES)) return null;
        const best = G.rank(sweep.combinations, sweep.main)[0]?.combination ?? sweep.combinations[0];
        const view = { x: all[0], y: all[1], fixed: { ...best.at }, measure: sweep.main };
        const controls = G.el("div", { class: "controls" });
        const build = (role) => {
            const roles = { x: "across", y: "down" };
            controls.replaceChildren(
                ...[
                    G.choice("measure", sweep.measures.map((m) => [m.key, m.label]), view.measure.key, (key) => {
                        view.measure = sweep.measures.find((m) => m.key === key);
                        chart.refresh();
                    }),
                    ...axisChoices(sweep, view, roles, build),
                    ...fixedChoices(sweep, [view.x, view.y], view.fixed, () => chart.refresh()),
                ].filter(Boolean),
            );
            const labels = [...controls.querySelectorAll("label")];
            if (role) labels.find((node) => node.firstChild.textContent.trim() === roles[role])?.querySelector("select").focus();
            chart?.refresh();
        };
        let chart = null;
        build();
        chart = G.sweepMap(sweep, `${id}-map`, () => view, []);
        chart.node.querySelector("figcaption").after(controls);
        return chart.node;
    }

    // What the letters on the axes stand for.
    function letters({ keys }) {
        return keys
            .filter((key) => key.long)
            .map((key) =>
                G.el(
                    "dl",
                    { class: "letters" },
                    G.el("div", {}, G.el("dt", {}, `${key.label}:`)),
                    key.values.map((value) =>
                        G.el("div", {}, G.el("dt", {}, value.short), G.el("dd", {}, G.el("code", {}, value.text))),
                    ),
                ),
            );
    }

    G.sweepSection = (sweep, index, count) => {
        const id = index === 0 ? "sweep" : `sweep-${index + 1}`;
        const [sentence, ...more] = G.sweepAnswer(sweep);
        return G.section(
            id,
            count > 1 ? `The sweep in ${sweep.folder.folder}` : "The sweep",
            G.el("p", { class: "sentence" }, sentence),
            more.filter(Boolean).map((text) => G.text(text, "second")),
            letters(sweep),
            [curves(sweep, id), map(sweep, id), G.sweepPairs(sweep)].filter(Boolean),
        );
    };
}
