"use strict";
// What the files of this script share, and nothing else gets out: every file is a block of its own.
const G = {};

{
    const SVG = "http://www.w3.org/2000/svg";

    // Children are nodes or text. Text from data becomes a text node, never markup.
    function fill(node, attributes, children) {
        for (const [name, value] of Object.entries(attributes)) {
            if (value === null || value === undefined || value === false) continue;
            if (typeof value === "function") node.addEventListener(name, value);
            else node.setAttribute(name, value === true ? "" : value);
        }
        for (const child of children.flat(Infinity)) {
            if (child !== null && child !== undefined) node.append(child);
        }
        return node;
    }

    G.el = (tag, attributes = {}, ...children) =>
        fill(document.createElement(tag), attributes, children);

    G.svg = (tag, attributes = {}, ...children) =>
        fill(document.createElementNS(SVG, tag), attributes, children);

    G.isNumber = (value) => typeof value === "number" && Number.isFinite(value);

    // The sum, the smallest and the largest, of lists that may be too long for Math.max(...list).
    G.sum = (list) => list.reduce((total, value) => total + value, 0);
    G.range = (list) => {
        let lo = Infinity;
        let hi = -Infinity;
        for (const value of list) {
            if (!G.isNumber(value)) continue;
            if (value < lo) lo = value;
            if (value > hi) hi = value;
        }
        return lo <= hi ? [lo, hi] : null;
    };

    G.unique = (list) => [...new Set(list)];

    // So many of a list, evenly spread, the first and the last among them.
    G.thin = (list, limit) => {
        if (list.length <= limit) return list;
        const step = (list.length - 1) / (limit - 1);
        return Array.from({ length: limit }, (_, i) => list[Math.round(i * step)]);
    };
}
