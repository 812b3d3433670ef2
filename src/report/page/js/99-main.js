// The page from top to bottom.
{
    function header({ folders, variants }, sweeps) {
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
            ...counts(variants, sweeps),
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

    function counts(variants, sweeps) {
        if (sweeps.length === 0) return [G.plural(variants.length, "variant")];
        const own = G.sum(sweeps.map((sweep) => sweep.variants.length));
        const swept = G.unique(sweeps.flatMap((sweep) => sweep.keys.map((key) => key.label)));
        return [
            G.plural(variants.length, "combination"),
            own > 1 && sweeps.length === 1 ? G.plural(own, "variant") : null,
            `swept: ${G.list(swept)}`,
        ];
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
        const sweeps = folders.map(G.sweepOf).filter(Boolean);
        const events = G.eventsOf(variants, sweeps.length > 0);
        const answer = sweeps.length
            ? G.sweepTable(model, metrics, sweeps)
            : G.answer(model, metrics);
        const asides = [G.expectations(folders), G.remarks(folders), G.eventList(events)].filter(
            Boolean,
        );
        if (asides.length) answer.append(G.el("div", { class: "asides" }, asides));
        const detail = (some) =>
            [
                G.metricSection(some, metrics, events),
                G.latencySection(some, classes),
                G.tauSection(some, classes),
                G.heardSection(some, classes, events),
                G.timeSection(some),
                G.stalenessSection(some),
                G.lossSection(some),
                G.lanesSection(some, events),
            ].filter(Boolean);
        const chosen = sweeps.length
            ? G.chosenSections(model, sweeps, detail)
            : { lead: null, sections: detail(model) };
        const sections = [
            ...sweeps.map((sweep, index) => G.sweepSection(sweep, index, folders.length)),
            answer,
            chosen.lead,
            ...chosen.sections,
            G.repeatSection(model),
        ].filter(Boolean);
        const banners = folders
            .map((folder) => G.banner(folder, folders.length > 1))
            .filter(Boolean);
        page.append(
            header(model, sweeps),
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
