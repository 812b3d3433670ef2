// What the reader of a sweep chooses: which key is on which axis, what the others are, which lines
// to see.
{
    const FEW_LINES = 6;
    const FIELD_FROM = 9;
    const several = (dimension) => dimension.values.length > 1;

    // At first: the first key below, variants (or the second key) as lines, the next key as panels.
    // Many lines get a panel each, with all others behind.
    G.firstView = (sweep) => {
        const [x, ...keys] = [...sweep.keys].sort((a, b) => several(b) - several(a));
        const variant = sweep.dimensions[sweep.dimensions.length - 1];
        const free = keys.filter(several);
        const lines = several(variant) ? variant : (free.shift() ?? variant);
        const panels = free[0] ?? (lines.values.length > FEW_LINES ? lines : null);
        return { x, lines, panels, fixed: G.bestPlace(sweep), hidden: new Set() };
    };

    // Where the best combination is: what is on no axis begins there.
    G.bestPlace = (sweep) => {
        const [best] = sweep.main ? G.rank(sweep.combinations, sweep.main) : [];
        return { ...(best?.combination ?? sweep.combinations[0])?.at };
    };

    // Two axes that would be the same change places. Only lines and panels may be the same: then
    // every line has a panel.
    function pick(view, roles, role, chosen) {
        const before = view[role];
        for (const other of Object.keys(roles)) {
            const together = [role, other].sort().join() === "lines,panels";
            if (other !== role && chosen && view[other] === chosen && !together)
                view[other] = before;
        }
        view[role] = chosen;
        if (view.panels === view.x) view.panels = null;
    }

    function axisChoice(view, roles, role, all, change) {
        const panels = role === "panels";
        const others = all
            .filter((one) => !panels || one !== view.x)
            .map(({ key, label }) => [key, panels ? `one for each ${label}` : label]);
        const options = panels ? [["", "one for all"], ...others] : others;
        if (options.length < 2) return null;
        return G.choice(roles[role], options, view[role]?.key ?? "", (key) => {
            pick(view, roles, role, all.find((one) => one.key === key) ?? null);
            change(role);
        });
    }

    function fixedChoice({ fixed }, { key, label, values }, change) {
        const options = values.map((value) => [String(value.index), value.text]);
        return G.choice(label, options, String(fixed[key]), (index) => {
            fixed[key] = Number(index);
            change();
        });
    }

    // A row of controls: roles are the view's axes with their labels; what is on none of them is
    // chosen by value. change(role) is called with the axis that has changed, if one has.
    G.axisControls = (sweep, view, roles, change) => {
        const row = G.el("span", { class: "controls axes" });
        const all = sweep.dimensions.filter(several);
        const asked = Object.keys(roles).filter((role) => role === "panels" || all.length > 2);
        const build = (role) => {
            const axes = asked.map((one) => axisChoice(view, roles, one, all, turned));
            const rest = all.filter((one) => !Object.keys(roles).some((r) => view[r] === one));
            const fixed = rest.map((one) => fixedChoice(view, one, () => change()));
            row.replaceChildren(...[...axes, ...fixed].filter(Boolean));
            // The choice that was just made keeps the keyboard.
            axes[asked.indexOf(role)]?.querySelector("select").focus();
        };
        const turned = (role) => {
            build(role);
            change(role);
        };
        build();
        return row;
    };

    // Lights one line in all charts of a node, and fades the others.
    G.lighter = (root) => (index) => {
        root.classList.toggle("lighting", index !== null);
        for (const node of root.querySelectorAll("[data-line]"))
            node.classList.toggle("lit", node.dataset.line === String(index));
    };

    function key(view, value, press) {
        const light = () => view.light(view.hidden.has(value.index) ? null : value.index);
        const dark = () => view.light(null);
        return G.el(
            "button",
            {
                type: "button",
                class: "key",
                "data-line": value.index,
                "data-series-name": value.text,
                pointerenter: light,
                pointerleave: dark,
                focus: light,
                blur: dark,
                click: press,
            },
            G.swatch(G.lineLook(view.lines, value)),
            G.el("span", {}, value.text),
        );
    }

    // The legend of all charts in one: point to light a line, press to leave it out. One line
    // stays.
    G.lineLegend = (view, change) => {
        const { values, label } = view.lines;
        if (values.length < 2) return null;
        const keys = values.map((value) =>
            key(view, value, () => {
                const last = view.hidden.size === values.length - 1;
                if (!view.hidden.delete(value.index) && !last) view.hidden.add(value.index);
                update();
            }),
        );
        const tell = () =>
            keys.forEach((node, i) => {
                node.setAttribute("aria-pressed", String(!view.hidden.has(i)));
            });
        const update = () => {
            tell();
            change();
        };
        const search = (words) => {
            const others = values.filter((value) => !G.matches(words, value.text));
            const hidden = others.length < values.length ? others : [];
            view.hidden = new Set(hidden.map((value) => value.index));
            update();
        };
        tell();
        return G.el(
            "div",
            { class: "legend", role: "group", "aria-label": `Lines: ${label}` },
            keys,
            values.length >= FIELD_FROM ? G.search(`only ${label} with`, search) : null,
        );
    };
}
