"""Breaks binary files behind their headers: lengths and checksums are right unless a fault is put there."""

import base64
import gzip
import io
import json
import struct
import warnings
import zipfile
import zlib

from toml_mutations import noise
from tree_mutations import SIZES, broken_tree

# Deflated histograms begin so, and inflated ones so.
COMPRESSED, PLAIN = 0x1C849304, 0x1C849303
DTYPES = """<f4 <f8 >f4 >f8 |u1 |i1 <i2 <u4 >i8 <i8 <u8 |b1 <f2 |O <U4 |S3 <c8 <M8 |V4 f4 <f <f-4 <f99 <i999999999999 =f4
    float32""".split()


def gzipped(content, draws):
    """Valid gzip: one member, or several."""
    if draws.random() < 0.2:
        middle = draws.randrange(len(content) + 1)
        return gzip.compress(content[:middle], 1, mtime=0) + gzip.compress(content[middle:], 1, mtime=0)
    packed = gzip.compress(content, 1, mtime=0)
    how = draws.random()
    if how < 0.06:
        return packed[: draws.randrange(len(packed))]
    return packed + b"rest" if how < 0.1 else packed


def array(descr, shape, data, order="False", version=1):
    """The bytes of an npy file."""
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 16) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def broken_npz(arrays, draws):
    """A zip archive of arrays, given as name → (dtype, shape, data)."""
    files = []
    for name, (descr, shape, data) in arrays.items():
        version = draws.choice([1, 1, 1, 2, 3])
        if draws.random() < 0.6:
            files.append((name + ".npy", array(descr, shape, data, version=version)))
            continue
        shape, how, order = list(shape), draws.random(), "False"
        if how < 0.3:
            shape[draws.randrange(len(shape))] = draws.choice(SIZES)
        elif how < 0.4:
            shape = draws.choice([[], [*shape, 1], shape[:-1], shape[::-1], [1] * 40, [2**32, 2**32], [0, 2**63]])
        elif how < 0.55:
            descr = draws.choice(DTYPES)
        elif how < 0.65:
            data = draws.choice([data[:-1], data * 2, b"", data + b"\0"])
        elif how < 0.8:
            at = draws.randrange(max(1, len(data) - 8))
            data = data[:at] + draws.choice([b"\xff" * 8, b"\x00\x00\xc0\x7f", b"\x00\x00\x80\x7f"]) + data[at + 8 :]
        else:
            order = draws.choice(["True", "None", "0", "false", "(1,)"])
        text = "(" + "".join(f"{size}," for size in shape) + ")"
        content = array(descr, draws.choice([text, text, text.replace(",)", ")"), "7"]), data, order, version)
        files.append((name + ".npy", noise(content[:100], draws) + content[100:] if draws.random() < 0.1 else content))
    if draws.random() < 0.15:
        files.append((draws.choice(["x.npy", "../x.npy", "x", ".npy", "a/b.npy", "é.npy", "x_test.npy"]), files[0][1]))
    if draws.random() < 0.1:
        del files[draws.randrange(len(files))]
    out = io.BytesIO()
    with warnings.catch_warnings():
        # Two files of one name are meant.
        warnings.simplefilter("ignore")
        with zipfile.ZipFile(out, "w", draws.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
            for name, content in files:
                archive.writestr(name, content)
    return noise(out.getvalue(), draws) if draws.random() < 0.15 else out.getvalue()


def idx(magic, sizes, data):
    return struct.pack(">HBB", magic >> 16, magic >> 8 & 255, magic & 255) + b"".join(
        struct.pack(">I", size & 0xFFFFFFFF) for size in sizes
    ) + data


def broken_idx(sizes, data, draws):
    """An idx file: other types, numbers of dimensions and sizes, more and fewer bytes."""
    sizes, magic = list(sizes), 0x0800 | len(sizes)
    how = draws.random()
    if how < 0.35:
        sizes[draws.randrange(len(sizes))] = draws.choice(SIZES)
    elif how < 0.45:
        sizes = draws.choice([[], [*sizes, 1], sizes[:-1], [0] * len(sizes), [2**31] * len(sizes), sizes * 50])
        magic = 0x0800 | (len(sizes) & 255)
    elif how < 0.6:
        magic = draws.choice([0x0801, 0x0803, 0x0901, 0x0D03, 0x0B01, 0x08FF, 0x0800, 0x10803, 0xFFFFFF])
    elif how < 0.75:
        data = draws.choice([data[:-1], data + b"\0", b"", data * 2])
    else:
        data = noise(data[:40], draws)[:40].ljust(min(40, len(data)), b"\xff") + data[40:]
    return idx(magic, sizes, data)


def broken_safetensors(content, draws, meta=None):
    """A file of tensors: its header broken as a tree, its length right. `meta` breaks text of the metadata."""
    length = struct.unpack("<Q", content[:8])[0]
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    how = draws.random()
    if meta and how < 0.6 and "__metadata__" in header:
        names = header["__metadata__"]
        name = draws.choice(sorted(names))
        # A digest is no tree.
        breaks = meta if names[name].startswith("{") else noise
        names[name] = breaks(names[name].encode(), draws).decode(errors="replace")
    elif how < 0.8:
        header = broken_tree(header, draws)
    elif how < 0.9:
        # The numbers themselves: not finite, other ones, fewer, more.
        at = draws.randrange(len(data) + 1)
        data = draws.choice([data[:at], data + b"\0" * 8, data[:at] + b"\xff" * 8 + data[at + 8 :], noise(data, draws)])
    else:
        # A tensor with other sizes that fit the header.
        name = draws.choice(sorted(set(header) - {"__metadata__"}) or [""])
        size = 8 * draws.choice([0, 1, 2, 9])
        header = {name: {"dtype": "F64", "shape": [size // 8], "data_offsets": [0, size]}, **{
            key: value for key, value in header.items() if key == "__metadata__"}}
        data = b"\0" * size
    text = json.dumps(header, default=str).encode("utf-8", "replace")
    length = len(text) if draws.random() < 0.95 else draws.choice([0, 1, len(text) + 1, 2**40, 2**63, 2**64 - 1])
    return struct.pack("<Q", length) + text + data


def broken_hlog(content, draws):
    """A log of histograms: text, or what a histogram is behind its compression."""
    lines = content.split(b"\n")
    places = [place for place, line in enumerate(lines) if line.count(b",") >= 4]
    if not places or draws.random() < 0.2:
        return noise(content, draws)
    place = draws.choice(places)
    cells = lines[place].split(b",")
    how = draws.random()
    if how < 0.3:
        cells[draws.randrange(len(cells))] = draws.choice([b"", b"nan", b"-1", b"1e999", b"Tag=", b"Tag=a", b"x"])
    else:
        packed = base64.b64decode(cells[-1])
        plain = bytearray(zlib.decompress(packed[8:]))
        if how < 0.6:
            # A field of the header: counts' length, unit, digits, lowest, highest, ratio.
            at = draws.choice([0, 4, 8, 12, 16, 20, 24, 28, 32, 36])
            plain[at : at + 4] = struct.pack(">I", draws.choice([it & 0xFFFFFFFF for it in SIZES]))
        else:
            plain[40:] = noise(bytes(plain[40:]), draws)
        deflated = zlib.compress(bytes(plain))
        length = len(deflated) if draws.random() < 0.9 else draws.choice([0, 1, 2**31, 2**32 - 1])
        cells[-1] = base64.b64encode(struct.pack(">II", COMPRESSED, length) + deflated)
    lines[place] = b",".join(cells)
    return b"\n".join(lines)
