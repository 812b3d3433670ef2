// Whether the run came to its end, what was expected of it, and what happened on the way.
{
    const WORDS = {
        incomplete: "This run was killed before its end",
        diverged: "A model blew up",
        interrupted: "This run was interrupted",
        failed: "This run failed",
    };
    const ENDINGS = {
        deserted: "ended early: too few clients were left for another round",
        unreachable: "ended early: everybody who was asked vanished at once",
        interrupted: "was interrupted",
    };

    function troubles(folder) {
        const list = [];
        for (const run of folder.summary.variants ?? []) {
            const who = `${run.name}, seed ${run.seed}`;
            if (run.diverged)
                list.push(
                    `${who}: diverged in round ${G.number(run.diverged.round)} (${run.diverged.cause})`,
                );
            else if (ENDINGS[run.stopped_by])
                list.push(
                    `${who}: ${ENDINGS[run.stopped_by]}, after ${G.plural(run.rounds, "round")}`,
                );
            else if (run.status && run.status !== "complete")
                list.push(`${who}: ${run.status}, after ${G.plural(run.rounds ?? 0, "round")}`);
        }
        if (folder.left_out > 0) {
            const shown = (folder.runs ?? []).length;
            list.push(
                `Charts and latencies are of the first ${G.plural(shown, "run")}; ` +
                    `${folder.left_out} more are in the table and in the files only`,
            );
        }
        return list;
    }

    function banner(folder, several) {
        const { status, error } = folder.summary;
        const list = troubles(folder);
        // A sweep's own section counts what went wrong.
        const most = folder.summary.swept ? 4 : 12;
        if (status === "complete" && !error && list.length === 0) return null;
        const stopped = (folder.summary.variants ?? []).some(
            (run) => run.stopped_by === "interrupted",
        );
        const title = stopped
            ? WORDS.interrupted
            : folder.holder
              ? "This run goes on"
              : error
                ? WORDS.failed
                : (WORDS[status] ??
                  (status === "complete" ? "Not everything went to plan" : `Status: ${status}`));
        return G.el(
            "div",
            { class: `banner ${status === "complete" ? "mild" : ""}`, role: "alert" },
            G.el("strong", {}, several ? `${folder.folder}: ${title}` : title),
            error ? G.el("p", { class: "error" }, error) : null,
            status === "incomplete"
                ? G.el(
                      "p",
                      {},
                      "What follows is what was done until ",
                      folder.holder ? "this page was made." : "then. It can go on: ",
                      folder.holder || !folder.resume ? null : G.el("code", {}, folder.resume),
                  )
                : null,
            list.length
                ? G.el(
                      "ul",
                      {},
                      list.slice(0, most).map((text) => G.el("li", {}, text)),
                  )
                : null,
            list.length > most ? G.el("p", {}, `and ${list.length - most} more`) : null,
        );
    }

    function expectation({ that, ok, skipped, measured }) {
        const [kind, sign, word] = skipped
            ? ["skipped", "–", "skipped"]
            : ok
              ? ["met", "✓", "met"]
              : ["missed", "✗", "not met"];
        return G.el(
            "li",
            { class: kind },
            G.el("span", { class: "verdict" }, `${sign} ${word}`),
            G.el(
                "span",
                {},
                that,
                " ",
                G.el("small", {}, skipped ? "not measured" : `measured ${G.number(measured)}`),
            ),
        );
    }

    function expectations(folders) {
        const lists = folders.filter((folder) => folder.summary.expect?.length);
        if (lists.length === 0) return null;
        return G.el(
            "div",
            { class: "expect" },
            G.el("h3", {}, "What was expected"),
            lists.map((folder) => [
                folders.length > 1 ? G.text(folder.folder, "note") : null,
                G.el("ul", {}, folder.summary.expect.map(expectation)),
            ]),
        );
    }

    // What trainers say of how they trained, each sentence once.
    function remarks(folders) {
        const said = new Map();
        // Of a sweep's combinations the variants are named.
        for (const run of folders.flatMap((folder) => folder.summary.variants ?? []))
            for (const text of run.remarks ?? [])
                said.set(text, G.unique([...(said.get(text) ?? []), run.variant ?? run.name]));
        if (said.size === 0) return null;
        return G.el(
            "div",
            { class: "remarks" },
            G.el("h3", {}, "How it was trained"),
            G.el(
                "ul",
                {},
                [...said].map(([text, whose]) => G.el("li", {}, `${G.list(whose)}: ${text}`)),
            ),
        );
    }

    // The same event of all runs counts once. One that opens with a round comes at another time in
    // every variant; it is then marked where it came first, and the list says so.
    function eventsOf(variants, many = false) {
        const groups = new Map();
        for (const variant of variants)
            for (const run of variant.runs) collect(groups, variant, run.events ?? []);
        const events = [...groups.values()].map((group) => told(group, variants.length, many));
        events.sort((a, b) => a.at - b.at);
        return events.map((event, index) => ({ ...event, number: index + 1 }));
    }

    function collect(groups, variant, events) {
        const seen = {};
        for (const event of events.filter((one) => G.isNumber(one.at))) {
            seen[event.what] = (seen[event.what] ?? 0) + 1;
            const key = `${event.what}#${seen[event.what]}`;
            if (!groups.has(key)) groups.set(key, { what: event.what, all: [], whose: new Set() });
            groups.get(key).all.push(event);
            groups.get(key).whose.add(variant.name);
        }
    }

    // Of many combinations it is said in how many it happened.
    function told({ what, all, whose }, variants, many) {
        const [at, latest] = G.range(all.map((event) => event.at));
        const { until } = all.find((event) => event.at === at);
        const where = many ? `in ${whose.size} of ${variants} combinations` : `${G.list([...whose])} only`;
        const only = whose.size < variants ? ` (${where})` : "";
        return { what: what + only, at, latest, until: G.isNumber(until) ? until : null };
    }

    function when({ at, until, latest }) {
        const from =
            latest > at
                ? `${G.duration(at)} (in other runs up to ${G.duration(latest)})`
                : G.duration(at);
        return until === null ? `from ${from}` : `${from} to ${G.duration(until)}`;
    }

    G.eventList = (events) =>
        events.length === 0
            ? null
            : G.el(
                  "div",
                  { class: "events" },
                  G.el("h3", {}, "What happened on the way"),
                  G.el(
                      "ol",
                      {},
                      events.map((event) =>
                          G.el(
                              "li",
                              {},
                              G.el("span", {}, event.what),
                              G.el("small", {}, ` ${when(event)}`),
                          ),
                      ),
                  ),
                  G.text("The numbers mark these events on every time axis below.", "note"),
              );

    Object.assign(G, { banner, expectations, remarks, eventsOf });
}
