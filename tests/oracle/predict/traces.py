"""Recordings of devices (traces/README.md), replayed in the order of the file and from their beginning."""

import csv
import re
from fractions import Fraction

from . import units

UNITS = {**units.NANOSECONDS, **units.BITS}


class Recording:
    """The rows of one device."""

    def __init__(self, rows, repeat):
        self.rows = rows
        self.period = None
        if repeat is True:
            self.period = rows[-1][0]
        elif repeat:
            self.period = units.duration(repeat)

    def place(self, now):
        """Where in the recording an instant is."""
        return now % self.period if self.period else now

    def value(self, column, now):
        """The last that was said of a column, None if nothing was."""
        place, found = self.place(now), None
        for time, values in self.rows:
            if time > place:
                break
            said = values.get(column)
            if said is not None and said != "lost":
                found = said
        return found

    def lost(self, now):
        place = self.place(now)
        return any(time == place and values.get("available") == "lost" for time, values in self.rows)

    def next_change(self, now):
        place = self.place(now)
        later = [time for time, _ in self.rows if time > place]
        if self.period:
            later = [time for time in later if time < self.period] + [self.period]
        return now - place + later[0] if later else None


def read(path):
    """Recordings by device, in the order of the file: rows of a time and what is said there."""
    with open(path) as file:
        lines = [line for line in csv.reader(file) if line and not line[0].startswith("#")]
    columns = [re.fullmatch(r"(\w+)(?: \[(\w+)\])?", head).groups() for head in lines[0]]
    devices = {}
    for line in lines[1:]:
        row = {name: cell(name, text, unit) for (name, unit), text in zip(columns, line) if text}
        devices.setdefault(row.pop("device"), []).append((units.whole(row.pop("time"), path), row))
    return devices


def cell(name, text, unit):
    if name == "device":
        return text
    if name == "available":
        return {"1": 1, "true": 1, "0": 0, "false": 0, "lost": "lost"}[text]
    return Fraction(text) * UNITS[unit]


def replayed(keys, key, scenario, place):
    """The recording of the client that is the `place`-th of its class."""
    if isinstance(keys, str):
        keys = {key: keys}
    devices = read(scenario.folder / keys[key])
    chosen = [rows for name, rows in devices.items() if name.startswith(keys.get("devices", ""))]
    return Recording(chosen[place % len(chosen)], keys.get("repeat", False))
