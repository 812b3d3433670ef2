"""One case: run by the program, predicted by the oracle, compared."""

import os
import pathlib
import subprocess
import tempfile

import compare
import generate
from predict.given import Illegal
from predict.run import predict

# A program that takes longer is ended: it hangs.
LIMIT = 120
# Nanoseconds that times may be off where links are shared: every change of shares rounds them.
SHARED = 2


class Wrong(Exception):
    """What is wrong with a case."""


def write(number, folder):
    """Writes the scenario of a case and the files that it names. Returns the path and the text of the scenario."""
    case = generate.oracle(number)
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in case.files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    path = folder / f"case-{number}.toml"
    path.write_text(case.text)
    return path, case.text


def run(program, scenario, out):
    """Runs a scenario: whether it was. One whose first round never opens is refused; one that ends early fails."""
    command = [program, "--quiet", "run", scenario, "--threads", "1", "--out", out, "--force"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        raise Wrong(f"the program was not over after {LIMIT} s") from None
    if done.returncode == 2 and "would wait for ever" in done.stderr:
        return False
    if done.returncode == 1 and "ended early" in done.stdout:
        return True
    if done.returncode != 0:
        raise Wrong(f"exit code {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
    return True


def refused(found):
    """The program says that no round will ever open."""
    rounds = len(found.rows)
    return f"refused, though {rounds} rounds are made" if rounds or found.stopped_by != "deserted" else None


def check(program, number, folder=None, spoil=None):
    """None if a case comes out as predicted, else what is wrong. `spoil` alters what the program wrote."""
    with tempfile.TemporaryDirectory(prefix="oracle-") as temporary:
        folder = pathlib.Path(folder or temporary)
        path, text = write(number, folder)
        out = folder / f"case-{number}"
        try:
            if not run(program, path, out):
                return refused(predict(text, folder, os.devnull, 0))
            if spoil:
                spoil(out)
            slack = SHARED if "\nserver_" in text else 0
            found = predict(text, folder, out / "clients.csv", slack)
            compare.Comparison(found, slack).compare(out)
        except (Wrong, Illegal, compare.Different) as wrong:
            return str(wrong)
    return None
