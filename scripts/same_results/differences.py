"""How two results differ, in words."""

import itertools

from runs import FILES, is_file


def differences(expected, found, folders=None):
    """What differs between two results of a scenario, a line each. `folders` are those of both runs, where
    both are there to look into."""
    if expected["scenario"] != found["scenario"]:
        return ["the scenario is another one than was recorded: record again"]
    lines = []
    for key in [*expected, *(key for key in found if key not in expected)]:
        was, now = expected.get(key), found.get(key)
        if was == now:
            continue
        if key in FILES and folders:
            lines.append(f"{key}: {first_difference(*(folder / key for folder in folders))}")
        elif is_file(key):
            lines.append(f"{key}: SHA-256 was {was}, is {now}")
        else:
            was, now = ("absent" if value is None else value for value in (was, now))
            lines.append(f"{key}: was {was}, is {now}")
    return lines


def first_difference(old, new):
    """Line and column of the first difference of two CSV files."""
    for path in (old, new):
        if not path.exists():
            return f"the {'old' if path == old else 'new'} run did not write it"
    with old.open("rb") as one, new.open("rb") as other:
        header = None
        for number, (was, now) in enumerate(itertools.zip_longest(one, other), start=1):
            if was == now:
                header = header or was
                continue
            if was is None or now is None:
                side = "missing" if now is None else "new"
                return f"line {number} is {side}: {shown(was or now)}"
            return f"line {number}, {difference_of_lines(header, was, now)}"
    return "the same lines"


def difference_of_lines(header, was, now):
    if was.rstrip(b"\r\n") == now.rstrip(b"\r\n"):
        return "the end of the line differs"
    columns = [] if header is None else header.rstrip(b"\r\n").split(b",")
    was, now = (line.rstrip(b"\r\n").split(b",") for line in (was, now))
    for place, (one, other) in enumerate(itertools.zip_longest(was, now)):
        if one != other:
            name = f" ({shown(columns[place])})" if place < len(columns) else ""
            return f"column {place + 1}{name}: was {shown(one)}, is {shown(other)}"
    return "the same columns"


def shown(value):
    if value is None:
        return "absent"
    text = value.decode(errors="replace").rstrip("\r\n")
    return (text if len(text) <= 200 else text[:200] + "…") or "empty"
