"""Breaks trees of lists, dicts and values: JSON files, headers in JSON, what pickles hold."""

import copy
import json
import math

from toml_mutations import noise

VALUES = [
    *[0, 1, 2, -1, 7, 255, 256, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1],
    *[-(2**63), 10**30, 0.0, -0.0, 0.5, 1e-9, 5e-324, 1e18, 1e300, -1e300, 1.5, math.nan, math.inf, -math.inf],
    *["", " ", "a", "a/b", "../a", "0", "1e999", "F32", "F64", "I8", "BF16", "\0", "é\u202e", "x" * 3000, "complete"],
    *[None, True, False, [], {}, [[]], [0], [99], [0, 0], [1, 0], [[1, 2]], [[99, 0]], {"a": 1}],
]
# The sizes among them: small, or beyond every memory.
SIZES = [0, 1, 2, 3, 7, 8, 31, 2**31, 2**32 - 1, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 10**30, -1]


def places(tree):
    """Every list or dict of a tree with each of its keys."""
    found, left = [], [tree]
    while left:
        node = left.pop()
        keys = node.keys() if isinstance(node, dict) else range(len(node))
        for key in keys:
            found.append((node, key))
            if isinstance(node[key], (dict, list)):
                left.append(node[key])
    return found


def broken_tree(tree, draws, values=VALUES):
    """A copy of a tree with one to three faults."""
    tree = copy.deepcopy(tree)
    for _ in range(1 + int(draws.expovariate(1.2))):
        found = places(tree)
        if not found:
            return draws.choice(values)
        node, key = draws.choice(found)
        how = draws.random()
        if how < 0.45:
            node[key] = near(node[key], draws, values)
        elif how < 0.55:
            del node[key]
        elif how < 0.7:
            other, at = draws.choice(found)
            node[key] = copy.deepcopy(other[at]) if at in range_or_keys(other) else draws.choice(values)
        elif isinstance(node, dict):
            node[draws.choice([str(key) + "x", "", "0", str(key).upper(), *map(str, node)])] = node[key]
        elif how < 0.85:
            node.insert(key, copy.deepcopy(node[key]))
        else:
            del node[key + 1 :]
    return tree


def range_or_keys(node):
    return node.keys() if isinstance(node, dict) else range(len(node))


def near(value, draws, values):
    """Another value, often of the same type."""
    if isinstance(value, bool) or draws.random() < 0.4:
        return draws.choice(values)
    if isinstance(value, int):
        return draws.choice([0, 1, value + 1, value - 1, -value, value * 1000, float(value), *SIZES])
    if isinstance(value, float):
        return draws.choice([0.0, -value, value * 1e9, value * 1e-9, int(value) if abs(value) < 1e15 else 1])
    if isinstance(value, str):
        return draws.choice(["", value + "x", value[:-1], value * 2, value.upper(), value + ".5", "-" + value])
    return draws.choice(values)


def broken_json(content, draws, values=VALUES):
    """The bytes of a JSON file with faults: of its tree, and now and then of its text."""
    how = draws.random()
    if how < 0.1:
        return noise(content, draws)
    tree = broken_tree(json.loads(content), draws, values)
    # JSON has no NaN; what is read must say so, unless the reader takes it for a number.
    text = json.dumps(tree, allow_nan=how < 0.2, default=str) if how < 0.2 else json.dumps(finite(tree))
    return text.encode("utf-8", "surrogatepass")


def broken_lines(content, draws, values=VALUES):
    """A file with a JSON tree on every line: one of them broken, gone, doubled or cut."""
    lines = content.splitlines(keepends=True)
    if not lines:
        return noise(content, draws)
    place, how = draws.randrange(len(lines)), draws.random()
    if how < 0.7:
        lines[place] = broken_json(lines[place], draws, values) + b"\n"
    elif how < 0.8:
        del lines[place]
    elif how < 0.9:
        lines.insert(place, lines[place])
    else:
        lines[-1] = lines[-1][: draws.randrange(len(lines[-1]))]
    return b"".join(lines)


def finite(tree):
    """The tree with large numbers in the place of those that JSON does not have."""
    if isinstance(tree, dict):
        return {str(key): finite(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [finite(value) for value in tree]
    return 1e308 if isinstance(tree, float) and not math.isfinite(tree) else tree
