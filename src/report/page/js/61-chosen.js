// Charts of a sweep's combinations show some of them: sixty lines would be a tangle. The reader chooses
// which; the charts are then made anew.
{
    const FEW = 6;
    const MOST = 12;
    const FIELD_FROM = 13;

    const charted = (variants) => variants.filter((variant) => variant.runs.length > 0);
    const variantOf = (variants, sweep, combination) =>
        variants.find((one) => one.folder === sweep.folder && one.plain === combination.name);

    // Ready choices: the best of each variant, and for every key its values with all else as in the best.
    function readyOf({ folders, variants }, sweeps) {
        const there = charted(variants);
        const pick = (sweep, list) =>
            list.map((one) => variantOf(there, sweep, one)).filter(Boolean);
        const plain = there.filter((one) => !sweeps.some((sweep) => sweep.folder === one.folder));
        const ranked = (sweep) => {
            const order = sweep.main ? G.rank(sweep.combinations, sweep.main) : [];
            const list = G.unique([...order.map((cell) => cell.combination), ...sweep.combinations]);
            return list.filter((one) => variantOf(there, sweep, one));
        };
        const firsts = (order) => order.filter((one, i) => order.findIndex((c) => c.at[G.VARIANT] === one.at[G.VARIANT]) === i);
        const each = sweeps.every((sweep) => firsts(ranked(sweep)).length > 1);
        const best = sweeps.flatMap((sweep) => pick(sweep, each ? firsts(ranked(sweep)) : ranked(sweep)));
        const list = [[each ? "the best of each variant" : "the best", [...plain, ...best].slice(0, FEW)]];
        for (const sweep of sweeps) {
            const [top] = ranked(sweep);
            if (!top) continue;
            for (const { key, label, values } of sweep.dimensions) {
                const line = values.map(({ index }) => sweep.find({ ...top.at, [key]: index })).filter(Boolean);
                const found = pick(sweep, line).slice(0, MOST);
                const where = folders.length > 1 ? ` (${sweep.folder.folder})` : "";
                if (found.length > 1) list.push([`every ${label}, all else as in the best${where}`, found]);
            }
        }
        return list.filter(([, found]) => found.length > 0);
    }

    // A variant keeps its colour where no two combinations of it are shown.
    function withLooks(chosen, sweeps) {
        const owns = chosen.map((one) => {
            const sweep = sweeps.find((candidate) => candidate.folder === one.folder);
            return sweep?.combinations.find((c) => c.name === one.plain)?.at[G.VARIANT] ?? null;
        });
        const own = sweeps.length === 1 && owns.every((at) => at !== null) && G.unique(owns).length === owns.length;
        return chosen.map((one, index) => ({ ...one, ...G.variantLook(own ? owns[index] : index) }));
    }

    function boxes(there, state, change) {
        const list = there.map((variant) => {
            const box = G.el("input", {
                type: "checkbox",
                change: () => {
                    if (box.checked) state.chosen = there.filter((one) => one === variant || state.chosen.includes(one));
                    else state.chosen = state.chosen.filter((one) => one !== variant);
                    change();
                },
            });
            const node = G.el("label", { class: "choice" }, box, ` ${variant.name}`);
            return { variant, box, node };
        });
        const search = G.search("with", (text) => {
            const words = text.toLowerCase().split(/\s+/).filter(Boolean);
            for (const { variant, node } of list)
                node.hidden = !words.every((word) => variant.name.toLowerCase().includes(word));
        });
        const update = () => {
            for (const { variant, box } of list) {
                box.checked = state.chosen.includes(variant);
                box.disabled = !box.checked ? state.chosen.length >= MOST : state.chosen.length === 1;
            }
        };
        const node = G.el(
            "details",
            { class: "boxes" },
            G.el("summary", {}, `Choose one by one (at most ${MOST})`),
            list.length >= FIELD_FROM ? search : null,
            G.el("div", { class: "grid-of-boxes" }, list.map((one) => one.node)),
        );
        return { node, update };
    }

    // The sections of a sweep's page that draw combinations. make(model) makes them for some of them.
    G.chosenSections = (model, sweeps, make) => {
        const there = charted(model.variants);
        if (there.length <= FEW) return { lead: null, sections: () => make(model) };
        const ready = readyOf(model, sweeps);
        const state = { chosen: ready[0][1] };
        const some = () => ({ ...model, variants: withLooks(state.chosen, sweeps) });
        const told = G.el("p", { class: "note", role: "status" });
        let sections = make(some());
        const say = () => {
            const without = model.variants.length - there.length;
            told.textContent =
                `The charts below show ${state.chosen.length} of ${model.variants.length} combinations: ` +
                `${G.list(state.chosen.map((one) => one.name))}.` +
                (without > 0 ? ` ${G.plural(without, "combination has", "combinations have")} no curves on this page.` : "");
        };
        const change = () => {
            const old = sections;
            G.replaceCharts(old, () => {
                sections = make(some());
                old[0].before(...sections);
                old.forEach((section) => section.remove());
            });
            update();
            say();
        };
        const { node, update } = boxes(there, state, () => {
            select.querySelector("select").value = "";
            change();
        });
        const select = G.choice(
            "show",
            [...ready.map(([text], index) => [String(index), text]), ["", "chosen one by one"]],
            "0",
            (index) => {
                if (index === "") {
                    node.open = true;
                    return;
                }
                state.chosen = ready[Number(index)][1];
                change();
            },
        );
        update();
        say();
        const lead = G.section("combinations", "Some combinations in detail", G.el("div", { class: "controls" }, select), node, told);
        return { lead, sections: () => sections };
    };
}
