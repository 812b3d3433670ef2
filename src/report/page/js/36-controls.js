// What people choose with. Every control is a real form element with a label.
{
    G.choice = (label, options, chosen, change) =>
        G.el(
            "label",
            { class: "choice" },
            `${label} `,
            G.el(
                "select",
                { change: (event) => change(event.target.value) },
                options.map(([value, text]) =>
                    G.el("option", { value, selected: value === chosen }, text),
                ),
            ),
        );

    G.toggle = (label, checked, change) =>
        G.el(
            "label",
            { class: "choice" },
            G.el("input", {
                type: "checkbox",
                checked,
                change: (event) => change(event.target.checked),
            }),
            ` ${label}`,
        );

    G.search = (label, change) =>
        G.el(
            "label",
            { class: "choice" },
            `${label} `,
            G.el("input", {
                type: "search",
                size: 14,
                input: (event) => change(event.target.value),
            }),
        );

    // Whether all words of a search occur.
    G.matches = (words, text) =>
        words
            .toLowerCase()
            .split(/\s+/)
            .every((word) => text.toLowerCase().includes(word));

    G.section = (id, title, ...children) =>
        G.el("section", { id }, G.el("h2", {}, title), children);
    G.text = (words, kind = "") => G.el("p", { class: kind || null }, words);
}
