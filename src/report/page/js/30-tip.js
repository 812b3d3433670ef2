// The one tip of the page: exact values at the pointer, the finger or the keyboard's place.
{
    let tip = null;

    function box() {
        if (!tip) {
            tip = G.el("div", { class: "tip", role: "status", hidden: true });
            document.body.append(tip);
        }
        return tip;
    }

    function line({ look, name, value, note }) {
        return G.el(
            "div",
            { class: "tip-row" },
            look ? G.swatch(look) : G.el("span"),
            G.el("span", { class: "tip-name" }, name),
            G.el(
                "span",
                { class: "tip-value" },
                value,
                note ? G.el("small", {}, ` ${note}`) : null,
            ),
        );
    }

    // Where it hides nothing of what it explains, and inside the window.
    function place(node, x, y) {
        const { width, height } = node.getBoundingClientRect();
        const room = document.documentElement.clientWidth;
        const left = x + 16 + width < room - 8 ? x + 16 : x - 16 - width;
        node.style.left = `${Math.max(8, Math.min(left, room - width - 8))}px`;
        node.style.top = `${Math.max(8, Math.min(y - height / 2, window.innerHeight - height - 8))}px`;
    }

    G.tip = {
        show(x, y, { title, rows = [], foot = [] }) {
            const node = box();
            node.replaceChildren(
                G.el("div", { class: "tip-title" }, title),
                ...rows.map(line),
                ...foot.map((text) => G.el("div", { class: "tip-foot" }, text)),
            );
            node.hidden = false;
            place(node, x, y);
        },
        hide() {
            if (tip) tip.hidden = true;
        },
    };
}
