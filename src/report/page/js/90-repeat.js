// The scenario itself, and how to run it again.
{
    // Pages opened from disk may not have a clipboard: selecting the text is the next best thing.
    async function copy(text, from, button) {
        try {
            await navigator.clipboard.writeText(text);
            button.textContent = "Copied";
        } catch {
            getSelection().selectAllChildren(from);
            button.textContent = "Selected: press Ctrl+C";
        }
        setTimeout(() => {
            button.textContent = "Copy";
        }, 2500);
    }

    function command(folder) {
        const code = G.el("code", {}, folder.repeat);
        const button = G.el(
            "button",
            { type: "button", class: "copy", click: () => copy(folder.repeat, code, button) },
            "Copy",
        );
        return G.el("div", { class: "command" }, G.el("pre", { tabindex: 0 }, code), button);
    }

    function facts(summary) {
        const runs = summary.variants ?? [];
        const digests = G.unique(runs.map((run) => run.digest).filter(Boolean));
        return G.el(
            "dl",
            { class: "facts" },
            [
                ["Gruppetto", summary.version ?? "–"],
                ["scenario digest", summary.scenario_digest ?? "–"],
                digests.length === 1 ? ["digest of what happened", digests[0]] : null,
                [
                    "client rounds",
                    G.number(G.sum(runs.map((run) => run.throughput?.client_rounds ?? 0))),
                ],
                [
                    "computed in",
                    `${G.duration(G.sum(runs.map((run) => run.throughput?.wall_seconds ?? 0)))} of real time`,
                ],
            ]
                .filter(Boolean)
                .map(([name, value]) =>
                    G.el("div", {}, G.el("dt", {}, name), G.el("dd", {}, value)),
                ),
        );
    }

    G.repeatSection = ({ folders }) =>
        G.section(
            "repeat",
            "Scenario, and how to repeat it",
            folders.map((folder) => [
                folders.length > 1 ? G.el("h3", {}, folder.folder) : null,
                folder.repeat
                    ? [
                          G.text(
                              "With scenario.toml from this run's folder, the same version repeats it to the bit:",
                          ),
                          command(folder),
                      ]
                    : null,
                facts(folder.summary),
                folder.scenario
                    ? G.el(
                          "details",
                          { class: "scenario" },
                          G.el("summary", {}, "The scenario"),
                          G.el("pre", { tabindex: 0 }, G.el("code", {}, folder.scenario)),
                      )
                    : null,
            ]),
        );
}
