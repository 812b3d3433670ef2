"""Breaks pickles: what they hold, and the instructions that build it, in frames of the right length."""

import io
import pickle
import pickletools
import struct

from toml_mutations import noise
from tree_mutations import VALUES, broken_tree

# Instructions that mean much in a wrong place: of the memo, of the stack, of containers, and those that call.
INSTRUCTIONS = [
    *[b".", b"(", b"0", b"1", b"2", b"}", b"]", b")", b"\x8f", b"a", b"e", b"s", b"u", b"t", b"\x85", b"\x86"],
    *[b"\x87", b"\x90", b"\x91", b"\x94", b"N", b"\x88", b"\x89", b"h\x00", b"h\x01", b"h\xff", b"q\x00", b"r\xff\xff\xff\x7f"],
    *[b"j\xff\xff\xff\xff", b"K\x00", b"K\xff", b"M\xff\xff", b"J\xff\xff\xff\xff", b"I01\n", b"I-1\n", b"L5L\n"],
    *[b"F1e400\n", b"Fnan\n", b"G\x7f\xf8\x00\x00\x00\x00\x00\x00", b"\x8a\x00", b"\x8a\x09" + b"\xff" * 9],
    *[b"\x8b\xff\xff\xff\x7f", b"X\xff\xff\xff\x7f", b"\x8d" + b"\xff" * 8, b"\x8e" + b"\x7f" * 8, b"\x96" + b"\x7f" * 8],
    *[b"cos\nsystem\n", b"\x93", b"R", b"b", b"\x81", b"\x92", b"P1\n", b"Q", b"V\\ud800\n", b"S'a'\n", b"p9999\n"],
]


class Odd:
    """An object that pickles refer to by name."""


def broken_pickle(tree, draws):
    tree = broken_tree(tree, draws, [*VALUES, (1, 2), b"bytes", frozenset([1]), {1: {2: 3}}, ((),)])
    content = pickle.dumps(tree, draws.randrange(6))
    how = draws.random()
    if how < 0.45:
        return content
    if how < 0.5:
        return noise(content, draws)
    return framed(changed(content, draws), draws)


def changed(content, draws):
    """The instructions with a few of them gone, doubled, exchanged or new, without frames."""
    starts = [place for code, _, place in pickletools.genops(content) if code.name != "FRAME"]
    frames = {place for code, _, place in pickletools.genops(content) if code.name == "FRAME"}
    ends = sorted([*starts, *frames, len(content)])
    parts = [content[start : next(end for end in ends if end > start)] for start in starts]
    for _ in range(1 + int(draws.expovariate(0.9))):
        place, how = draws.randrange(len(parts)), draws.random()
        if how < 0.25 and len(parts) > 1:
            del parts[place]
        elif how < 0.45:
            parts.insert(place, parts[place])
        elif how < 0.6:
            other = draws.randrange(len(parts))
            parts[place], parts[other] = parts[other], parts[place]
        elif how < 0.9:
            parts.insert(place, draws.choice(INSTRUCTIONS))
        else:
            # The argument, and not the instruction.
            part = bytearray(parts[place])
            if len(part) > 1:
                part[draws.randrange(1, len(part))] = draws.randrange(256)
            parts[place] = bytes(part)
    return b"".join(parts)


def framed(content, draws):
    """A frame around the instructions, where their protocol has frames."""
    if len(content) < 2 or content[0] != 0x80 or content[1] < 4:
        return content
    length = len(content) - 2
    if draws.random() < 0.1:
        length = draws.choice([0, 1, length + 1, 2**63, 2**64 - 1])
    out = io.BytesIO()
    out.write(content[:2] + b"\x95" + struct.pack("<Q", length) + content[2:])
    return out.getvalue()
