// All combinations of a sweep as a table: a column for the variant, one for every swept key, and
// then what the answer's table has. Nothing is bold: the best of many may be there by chance.
{
    const LONG = 12;

    function keyColumns(sweeps) {
        const keys = new Map(
            sweeps.flatMap((sweep) => sweep.keys.map((key) => [key.key, key.label])),
        );
        const valueOf = (row, key) => {
            const dimension = row.sweep?.keys.find((one) => one.key === key);
            return dimension?.values[row.combination.at[key]];
        };
        return [...keys].map(([key, label]) => ({
            title: label,
            key,
            sort: (row) => valueOf(row, key)?.size,
            cell: (row) => valueOf(row, key)?.text,
        }));
    }

    // The model's variants are combinations here; those of folders without a sweep stay what they
    // are.
    function rowsOf(variants, sweeps) {
        return variants.map((variant) => {
            const sweep = sweeps.find((one) => one.folder === variant.folder);
            const combination = sweep?.combinations.find((one) => one.name === variant.plain);
            const look = combination ? sweep.variants[combination.at[G.VARIANT]] : null;
            return { variant, sweep: combination && sweep, combination, look };
        });
    }

    function first(folders) {
        return {
            title: "variant",
            cell: ({ variant, look }) => {
                const folder = folders.length > 1 ? `${variant.folder.folder} · ` : "";
                return [
                    G.swatch(look ?? variant),
                    " ",
                    look ? folder + look.text : variant.name,
                    G.answerParts.soFar(variant) ?? "",
                ];
            },
        };
    }

    G.sweepTable = ({ folders, variants }, metrics, sweeps) => {
        const rows = rowsOf(variants, sweeps);
        const columns = [
            first(folders),
            ...keyColumns(sweeps),
            ...G.answerParts.columns(variants, folders, metrics).map((column) => ({
                title: column.title,
                key: column.key,
                sort: ({ variant }) => column.entry(variant)?.mean,
                cell: ({ variant }) => column.cell(variant),
            })),
        ];
        const table = G.sortedTable({
            kind: "answer combinations",
            label: "All combinations",
            attributes: ({ variant }) => ({ "data-variant": variant.name }),
        });
        table.show(rows, columns);
        const count = G.el("span", { class: "count", role: "status" });
        const search = G.search("rows with", (text) => {
            const found = rows.filter(({ variant }) => G.matches(text, variant.name));
            table.show(found, columns);
            count.textContent =
                found.length < rows.length ? `${found.length} of ${rows.length} rows` : "";
        });
        const seeds = Math.max(0, ...variants.map((one) => one.over?.seeds ?? one.seeds.length));
        const sentence = G.answerParts.sentence(variants, folders, metrics);
        return G.el(
            "section",
            { id: "answer" },
            G.el("h2", {}, "All combinations"),
            folders.length > 1 ? G.el("p", { class: "sentence" }, sentence) : null,
            G.text(G.answerParts.fairness(variants) ?? "", "second"),
            rows.length > LONG ? G.el("div", { class: "controls" }, search, count) : null,
            table.node,
            seeds > 1 ? G.text(`Mean ± standard deviation over ${seeds} seeds.`, "note") : null,
        );
    };
}
