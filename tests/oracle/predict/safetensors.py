"""Models in files: a length, a header in JSON, numbers."""

import json
import struct

SIZES = {"F64": (8, "d"), "F32": (4, "f")}


def read(path, names):
    """The numbers of tensors, one after the other by their names."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, numbers = json.loads(data[8 : 8 + length]), []
    for name in names:
        size, code = SIZES[header[name]["dtype"]]
        begin, end = (8 + length + offset for offset in header[name]["data_offsets"])
        numbers += struct.unpack(f"<{(end - begin) // size}{code}", data[begin:end])
    return numbers


def written(tensors, kind="F64"):
    """A file of tensors: shapes and numbers by name."""
    size, code = SIZES[kind]
    header, body = {}, b""
    for name, (shape, numbers) in tensors.items():
        offsets = [len(body), len(body) + size * len(numbers)]
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": offsets}
        body += struct.pack(f"<{len(numbers)}{code}", *numbers)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + body
