"""Breaks tables: CSV in every dialect that is read, logs, the libsvm format."""

from toml_mutations import noise

CELLS = """0 1 2 3 -1 0.5 -0.5 1e-9 1e9 1e18 1e300 -1e300 1e999 nan inf -inf 255 4294967295 4294967296 2147483648
    9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616 99999999999999999999999 x ""
    "a" "a,b" "a""b" " '  # : 1:1 0:1 -1:1 4294967296:1 1e6:1 true false None null 1h 5ms 3.5Mbps 1,5 0x10 +1 1. .5
    1e 1_000 \u202e é done late dropped download""".split()
NAMES = """device time|time [s]|time [ms]|time [d]|time [ns]|time []|time[s]|time [x]|step_time [ms]|step_time [us]|
    sample_time [ms]|up [Mbps]|up [kbps]|up [bps]|down [Mbps]|available|x|y|user|variant|seed|round|client||Y| y """
NAMES = [name.strip() for name in NAMES.split("|")]


def broken_table(content, draws, separator=b","):
    """A table with one to four faults."""
    if draws.random() < 0.08:
        return noise(content, draws)
    rows = [row.split(separator) for row in content.split(b"\n")]
    if len(rows) > 60:
        # A part of it is read as well, and faster.
        start = draws.randrange(1, len(rows) - 50)
        rows = rows[:1] + rows[start : start + 50]
    for _ in range(1 + int(draws.expovariate(0.9))):
        place = draws.randrange(len(rows))
        row = rows[place]
        column = draws.randrange(len(row))
        how = draws.random()
        if how < 0.45:
            row[column] = cell(row[column], draws)
        elif how < 0.52:
            other = rows[draws.randrange(len(rows))]
            row[column] = other[min(column, len(other) - 1)]
        elif how < 0.58:
            rows[0][draws.randrange(len(rows[0]))] = draws.choice(NAMES).encode()
        elif how < 0.64:
            del row[column]
        elif how < 0.70:
            row.insert(column, draws.choice(CELLS).encode())
        elif how < 0.76:
            rows.insert(place, list(row))
        elif how < 0.82:
            del rows[place]
        elif how < 0.88:
            other = draws.randrange(len(rows))
            rows[place], rows[other] = rows[other], rows[place]
        elif how < 0.94:
            # A whole column: the same cell in every row, or none.
            same = draws.choice([None, draws.choice(CELLS).encode()])
            for row in rows[1:]:
                if column < len(row):
                    row[column] = same if same is not None else row[0]
        else:
            row[column] += draws.choice([b"\r", b"\t", b"\0", b"\xff", b"\xef\xbb\xbf", b'"', b" ", b"#"])
        if not rows or not all(rows):
            rows = [row or [b""] for row in rows] or [[b""]]
    text = b"\n".join(separator.join(row) for row in rows)
    return text.replace(b"\n", b"\r\n") if draws.random() < 0.04 else text


def cell(old, draws):
    """Another cell: any, or a number near the old one."""
    digits = old.strip().lstrip(b"-")
    if draws.random() < 0.4 and digits.replace(b".", b"", 1).isdigit() and len(digits) < 15:
        value = float(old)
        return draws.choice([b"%.9g" % it for it in (-value, value + 1, value * 1000, value / 1000, value * 1e12)])
    return draws.choice(CELLS).encode()
