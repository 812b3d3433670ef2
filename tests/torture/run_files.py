"""Breaks one file of a run's folder, and reads the folder with everything that does: `report`, `compare`, `export`,
`watch`, `trace record`, `run --resume`."""

import gzip

from binary_mutations import broken_hlog, broken_safetensors, gzipped
from table_mutations import broken_table
from toml_mutations import noise
from tree_mutations import broken_json, broken_lines


def broken_file(name, content, draws):
    """The content of a file of a run, with faults that fit its format."""
    if draws.random() < 0.05:
        return draws.choice([b"", content[: draws.randrange(len(content) + 1)], noise(content, draws)])
    if name.endswith(".csv"):
        return broken_table(content, draws)
    if name.endswith(".jsonl"):
        return broken_lines(content, draws)
    if name.endswith(".json"):
        return broken_json(content, draws)
    if name.endswith(".hlog"):
        return broken_hlog(content, draws)
    if name.endswith(".json.gz"):
        return gzipped(noise(unzipped(content), draws), draws)
    if name.endswith("checkpoint.safetensors"):
        return broken_safetensors(content, draws, broken_json)
    if name.endswith(".safetensors"):
        return broken_safetensors(content, draws)
    if name.endswith("/log"):
        # A cell is a number's bits in hexadecimal digits.
        bits = [b"7ff0000000000000", b"7ff8000000000000", b"ffffffffffffffff", b"-", b"0" * 16, b"8" * 16]
        return broken_table(content, draws, b" ") if draws.random() < 0.4 else replaced(content, bits, draws)
    return noise(content, draws)


def unzipped(content):
    """What gzip holds; of a file that was not written to its end, its beginning."""
    try:
        return gzip.decompress(content)
    except (OSError, EOFError):
        return content


def replaced(content, cells, draws):
    rows = [row.split(b" ") for row in content.split(b"\n")]
    row = draws.choice(rows)
    row[draws.randrange(len(row))] = draws.choice(cells)
    return b"\n".join(b" ".join(row) for row in rows)


def broken_run(runs, draws):
    """Files and commands of a case, and how it is called."""
    if draws.random() < 0.5:
        return unfinished(runs, draws)
    number = draws.randrange(len(runs.finished))
    good = runs.finished[number]
    names = ["summary.json", "findings.json", "rounds.csv", "clients.csv", "latency.hlog", "timeline.json.gz"]
    name = draws.choice([*names, "summary.json", "findings.json", "scenario.toml"])
    readers = {
        "report": [["--quiet", "report", "run"]],
        "compare": [["--quiet", "compare", "run", "good", "--csv", "o.csv", "--html", "o.html", "--anyway"]],
        "export": [["--quiet", "export", "run", "--parquet", "--tensorboard", "board"]],
        "watch": [["watch", "run"]],
        "record": [["--quiet", "trace", "record", "run", "--out", "o.csv", "--variant", "x", "--seed", "3"]],
        "again": [["--quiet", "run", "s.toml", "--out", "run", "--resume"]],
        "pages": [["--quiet", "report", "run", "good", "--out", "o.html"]],
    }
    if number > 0:
        readers["record"] = [["--quiet", "trace", "record", "run", "--out", "o.csv"]]
    reader = draws.choice(sorted(readers))
    files = {f"run/{it}": content for it, content in good.items()}
    files[f"run/{name}"] = broken_file(name, good[name], draws)
    files |= {f"good/{it}": content for it, content in good.items()}
    files["s.toml"] = runs.scenarios[number]
    return files, readers[reader], reader


def unfinished(runs, draws):
    place = draws.randrange(len(runs.unfinished))
    good = runs.unfinished[place]
    kept = [name for name in good if name.startswith("cells/")]
    name = draws.choice(kept * 4 + sorted(good))
    files = {f"run/{it}": content for it, content in good.items()}
    files[f"run/{name}"] = broken_file(name, good[name], draws)
    if draws.random() < 0.05:
        del files[f"run/{name}"]
    files["s.toml"] = runs.scenarios[runs.of[place]]
    reader = draws.choice(["resume"] * 8 + ["watch", "report"])
    if reader == "resume":
        command = ["--quiet", "run", "s.toml", "--out", "run", "--resume", "--threads", draws.choice("12")]
    else:
        command = [reader, "run"]
    return files, [command], f"{reader}, not over"
