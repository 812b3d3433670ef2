// Charts of a sweep's combinations show some of them: sixty lines would be a tangle. The reader
// chooses which; the charts are then made anew.
{
    const FEW = 6;
    const MOST = 12;
    const FIELD_FROM = 13;

    // A run has curves of the first combinations only.
    const charted = (variants) => variants.filter((variant) => variant.runs.length > 0);
    const sweepOf = (sweeps, variant) => sweeps.find((sweep) => sweep.folder === variant.folder);
    const placeOf = (sweeps, variant) =>
        sweepOf(sweeps, variant)?.combinations.find((one) => one.name === variant.plain)?.at;

    // The model's variants of a sweep that have curves, the best first.
    function ranked(there, sweep) {
        const order = sweep.main ? G.rank(sweep.combinations, sweep.main) : [];
        const best = order.map((cell) => cell.combination);
        return G.unique([...best, ...sweep.combinations])
            .map(({ name }) => there.find((v) => v.folder === sweep.folder && v.plain === name))
            .filter(Boolean);
    }

    // Ready choices: the best of each variant, and for every key its values with all else as in the
    // best.
    function readyOf({ folders }, there, sweeps) {
        const plain = there.filter((variant) => !sweepOf(sweeps, variant));
        const own = (variant) => placeOf(sweeps, variant)[G.VARIANT];
        const firsts = (list) =>
            list.filter((one, i) => list.findIndex((other) => own(other) === own(one)) === i);
        const lists = sweeps.map((sweep) => ranked(there, sweep));
        const each = lists.every((list) => firsts(list).length > 1);
        const best = lists.flatMap((list) => (each ? firsts(list) : list));
        const title = each ? "the best of each variant" : "the best";
        const ready = [[title, [...plain, ...best].slice(0, FEW)]];
        sweeps.forEach((sweep, i) => {
            const where = folders.length > 1 ? ` (${sweep.folder.folder})` : "";
            for (const dimension of sweep.dimensions) {
                const found = alongside(lists[i], sweeps, dimension);
                const text = `every ${dimension.label}, all else as in the best${where}`;
                if (found.length > 1) ready.push([text, found.slice(0, MOST)]);
            }
        });
        return ready;
    }

    // Those that differ from the first in one dimension only, in its order.
    function alongside(list, sweeps, { key }) {
        if (list.length === 0) return [];
        const place = (variant) => placeOf(sweeps, variant);
        const rest = (variant) => JSON.stringify({ ...place(variant), [key]: null });
        return list
            .filter((variant) => rest(variant) === rest(list[0]))
            .sort((a, b) => place(a)[key] - place(b)[key]);
    }

    // A variant keeps its colour where no two combinations of it are shown.
    function withLooks(chosen, sweeps) {
        const owns = chosen.map((variant) => placeOf(sweeps, variant)?.[G.VARIANT]);
        const unique = G.unique(owns).length === owns.length && !owns.includes(undefined);
        const own = sweeps.length === 1 && unique;
        return chosen.map((variant, index) => ({
            ...variant,
            ...G.variantLook(own ? owns[index] : index),
        }));
    }

    function boxes(there, state, change) {
        const turn = (variant, on) => {
            const wanted = (one) => (one === variant ? on : state.chosen.includes(one));
            state.chosen = there.filter(wanted);
            change();
        };
        const list = there.map((variant) => {
            const node = G.toggle(variant.name, false, (on) => turn(variant, on));
            return { variant, node, box: node.querySelector("input") };
        });
        const search = G.search("with", (words) => {
            for (const { variant, node } of list) node.hidden = !G.matches(words, variant.name);
        });
        const update = () => {
            const full = state.chosen.length >= MOST;
            const last = state.chosen.length === 1;
            for (const { variant, box } of list) {
                box.checked = state.chosen.includes(variant);
                box.disabled = box.checked ? last : full;
            }
        };
        const node = G.el(
            "details",
            { class: "boxes" },
            G.el("summary", {}, `Choose one by one (at most ${MOST})`),
            list.length >= FIELD_FROM ? search : null,
            G.el(
                "div",
                { class: "grid-of-boxes" },
                list.map((one) => one.node),
            ),
        );
        return { node, update };
    }

    function summary(state, there, all) {
        const names = G.list(state.chosen.map((one) => one.name));
        const count = `${state.chosen.length} of ${all} combinations`;
        const shown = `The charts below show ${count}: ${names}.`;
        const without = G.plural(all - there, "combination has", "combinations have");
        return all > there ? `${shown} ${without} no curves on this page.` : shown;
    }

    // The sections of a sweep's page that draw combinations; make(model) makes them for some of
    // them. lead, where there are many, is the section that chooses.
    G.chosenSections = (model, sweeps, make) => {
        const there = charted(model.variants);
        const some = (variants) => ({ ...model, variants: withLooks(variants, sweeps) });
        if (there.length <= FEW)
            return { lead: null, sections: make(some(there.length ? there : model.variants)) };
        const ready = readyOf(model, there, sweeps);
        const state = { chosen: ready[0][1] };
        const told = G.el("p", { class: "note", role: "status" });
        let sections = make(some(state.chosen));
        const tell = () => {
            update();
            told.textContent = summary(state, there.length, model.variants.length);
        };
        const change = () => {
            const old = sections;
            G.replaceCharts(old, () => {
                sections = make(some(state.chosen));
                old[0].before(...sections);
                old.forEach((section) => section.remove());
            });
            tell();
        };
        const { node, update } = boxes(there, state, () => {
            select.querySelector("select").value = "";
            change();
        });
        const options = ready.map(([text], index) => [String(index), text]);
        const select = G.choice("show", [...options, ["", "chosen one by one"]], "0", (index) => {
            if (index === "") return node.setAttribute("open", "");
            state.chosen = ready[Number(index)][1];
            change();
        });
        tell();
        const controls = G.el("div", { class: "controls" }, select);
        const title = "Some combinations in detail";
        return { lead: G.section("combinations", title, controls, node, told), sections };
    };
}
