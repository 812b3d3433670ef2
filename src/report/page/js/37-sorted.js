// A table that is sorted by pressing a column's head. Rows without a value in it come last;
// pressing a head for the third time brings the first order back.
{
    const SIGNS = { ascending: "\u00a0↑", descending: "\u00a0↓", none: "" };
    const NEXT = { none: "ascending", ascending: "descending", descending: "none" };

    function inOrder(rows, column, order) {
        if (!column?.sort || order === "none") return rows;
        const known = rows.filter((row) => G.isNumber(column.sort(row)));
        known.sort((a, b) => (column.sort(a) - column.sort(b)) * (order === "descending" ? -1 : 1));
        return [...known, ...rows.filter((row) => !G.isNumber(column.sort(row)))];
    }

    // Columns have title, key, sort(row) and cell(row); attributes(row) are those of the row.
    G.sortedTable = ({ kind, label, attributes }) => {
        const state = { title: "", order: "none", rows: [], columns: [] };
        const box = G.el("div", {
            class: "scroll tall",
            tabindex: 0,
            role: "region",
            "aria-label": label,
        });

        function head(column) {
            const order = column.title === state.title ? state.order : "none";
            const turn = () => {
                Object.assign(state, { title: column.title, order: NEXT[order] });
                draw();
                box.querySelector(`[data-sort="${state.columns.indexOf(column)}"]`).focus();
            };
            const button = () =>
                G.el(
                    "button",
                    {
                        type: "button",
                        class: "sort",
                        "data-sort": state.columns.indexOf(column),
                        click: turn,
                    },
                    column.title,
                    G.el("span", { "aria-hidden": "true" }, SIGNS[order]),
                );
            return G.el(
                "th",
                {
                    scope: "col",
                    "aria-sort": order === "none" ? null : order,
                    "data-column": column.key ?? null,
                },
                column.sort ? button() : column.title,
            );
        }

        const cell = (row) => (column, i) =>
            G.el(
                i === 0 ? "th" : "td",
                { scope: i === 0 ? "row" : null, "data-column": column.key ?? null },
                column.cell(row) ?? "–",
            );

        function draw() {
            const { rows, columns } = state;
            const shown = inOrder(
                rows,
                columns.find((one) => one.title === state.title),
                state.order,
            );
            box.replaceChildren(
                G.el(
                    "table",
                    { class: kind },
                    G.el("thead", {}, G.el("tr", {}, columns.map(head))),
                    G.el(
                        "tbody",
                        {},
                        shown.map((row) => G.el("tr", attributes(row), columns.map(cell(row)))),
                    ),
                ),
            );
        }

        const show = (rows, columns) => {
            Object.assign(state, { rows, columns });
            draw();
        };
        return { node: box, show };
    };
}
