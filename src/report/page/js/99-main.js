// The page from top to bottom.
{
    function header({ folders, variants }) {
        const [first] = folders;
        const names = G.unique(folders.map((folder) => folder.summary.name));
        const seeds = G.unique(
            folders.flatMap((folder) => (folder.summary.variants ?? []).map((run) => run.seed)),
        );
        const clients = G.range(
            variants.flatMap((v) =>
                v.runs.map((run) => G.sum((run.classes ?? []).map((c) => c.clients ?? 0))),
            ),
        );
        const facts = [
            G.plural(variants.length, "variant"),
            seeds.length === 1 ? `seed ${seeds[0]}` : G.plural(seeds.length, "seed"),
            clients && clients[1] > 0
                ? `${clients[0] < clients[1] ? `${G.number(clients[0])} to ` : ""}${G.plural(clients[1], "client")}`
                : null,
            folders.every((folder) => folder.summary.timing_only) ? "timing only" : null,
            folders.map((folder) => folder.folder).join(", "),
        ].filter(Boolean);
        const told = G.unique(folders.map((folder) => folder.description).filter(Boolean));
        return G.el(
            "header",
            {},
            G.el("p", { class: "eyebrow" }, "Gruppetto report"),
            G.el("h1", {}, G.list(names)),
            told.map((text) => G.el("p", { class: "lede" }, text)),
            first ? G.el("p", { class: "facts-line" }, facts.join(" · ")) : null,
        );
    }

    const contents = (sections) =>
        G.el(
            "nav",
            { "aria-label": "Contents" },
            sections.map((section) =>
                G.el("a", { href: `#${section.id}` }, section.querySelector("h2").textContent),
            ),
        );

    // Lines over a colour say the same in black and white.
    const hatch = () =>
        G.svg(
            "svg",
            { width: 0, height: 0, class: "patterns", "aria-hidden": "true" },
            G.svg(
                "defs",
                {},
                G.svg(
                    "pattern",
                    {
                        id: "hatch",
                        width: 6,
                        height: 6,
                        patternUnits: "userSpaceOnUse",
                        patternTransform: "rotate(45)",
                    },
                    G.svg("line", { class: "hatching", x1: 0, y1: 0, x2: 0, y2: 6 }),
                ),
            ),
        );

    function build() {
        const model = G.read();
        const page = document.getElementById("page");
        page.append(hatch());
        if (model.folders.length === 0) return page.append(G.text("This page holds no run."));
        const { variants, folders } = model;
        const metrics = G.metricsOf(variants, folders);
        const classes = G.classesOf(variants);
        const events = G.eventsOf(variants);
        const answer = G.answer(model, metrics);
        const asides = [G.expectations(folders), G.remarks(folders), G.eventList(events)].filter(Boolean);
        if (asides.length) answer.append(G.el("div", { class: "asides" }, asides));
        const sections = [
            answer,
            G.metricSection(model, metrics, events),
            G.latencySection(model, classes),
            G.tauSection(model, classes),
            G.heardSection(model, classes, events),
            G.timeSection(model),
            G.stalenessSection(model),
            G.lossSection(model),
            G.lanesSection(model, events),
            G.repeatSection(model),
        ].filter(Boolean);
        const banners = folders
            .map((folder) => G.banner(folder, folders.length > 1))
            .filter(Boolean);
        page.append(
            header(model),
            ...banners,
            contents(sections),
            ...sections,
            G.el(
                "footer",
                {},
                `Gruppetto ${folders[0].summary.version ?? ""}. This page is one file and needs no network.`,
            ),
        );
        G.drawCharts();
    }

    build();
}
