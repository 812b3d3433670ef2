"""Runs the paper's experiments and writes them up as one page, runs/paper/index.html.

Usage: python3 scripts/paper PROGRAM [NAME...]

  PROGRAM   a gruppetto to run them with, such as target/release/gruppetto
  NAME      scenarios to run, such as figure-2-left or 'figure-5-*'; all of them unless given

Folders are those of the current directory: scenarios/paper and scenarios/beyond are read, runs/paper is
written. A run that is there already, from the same scenario and the same program, is not made again.
The page shows all runs there are, also those that were not asked for.

Exit codes: 0 all ran and all expectations are met, 1 something failed, 2 bad usage, 3 an expectation is
not met, 130 interrupted.
"""

import argparse
import fnmatch
import os
import pathlib
import sys

# This folder is source, and stays as it is.
sys.dont_write_bytecode = True

import runs  # noqa: E402
from page import page  # noqa: E402
from panels import PANELS, Deadlines  # noqa: E402
from table_one import OURS  # noqa: E402


def main():
    options = arguments()
    program = pathlib.Path(options.program).resolve()
    if not (program.is_file() and os.access(program, os.X_OK)):
        return complain(f"{options.program} is not a program; `make torch` builds target/release/gruppetto")
    names = options.names or ["*"]
    for name in names:
        if not any(fnmatch.fnmatch(p.name, name) for p in PANELS):
            known = "\n  ".join(p.name for p in PANELS)
            return complain(f"there is no scenario {name}; there are\n  {known}")
    selected = [p for p in PANELS if any(fnmatch.fnmatch(p.name, name) for name in names)]
    codes, said = [], {}
    for panel in [] if options.page else selected:
        code, output = run_panel(program, panel, options.again)
        codes.append(code)
        if output:
            said[panel.name] = output
        if code == runs.INTERRUPTED:
            break
    path = write_page(program, said)
    print(f"written to {path}", file=sys.stderr)
    # What is worse decides.
    for code in (runs.INTERRUPTED, runs.FAILED, runs.NOT_MET):
        if code in codes:
            return code
    return 0


def complain(message):
    print(f"error: {message}", file=sys.stderr)
    return 2


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/paper", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", metavar="PROGRAM", help="the gruppetto to use")
    parser.add_argument("names", metavar="NAME", nargs="*", help="what to run; * stands for anything")
    parser.add_argument("--again", action="store_true", help="run also what is there and has not changed")
    parser.add_argument("--page", action="store_true", help="run nothing, only write the page")
    return parser.parse_args()


def run_panel(program, panel, again):
    """Runs one scenario unless it is there, and says so in one line. Returns the code and any complaint."""
    scenario = pathlib.Path(panel.scenario)
    print(f"{panel.name:<24}", end="", file=sys.stderr, flush=True)
    if not scenario.is_file():
        print(f"failed: there is no {scenario}", file=sys.stderr)
        return runs.FAILED, f"There is no {scenario}."
    if not again and runs.is_current(program, scenario, panel.name):
        run = runs.read(panel.name)
        code = runs.DONE if all(e.get("ok") or e.get("skipped") for e in run.expectations) else runs.NOT_MET
        took = "as before"
    else:
        code, seconds, output = runs.make(program, scenario, panel.name)
        took = f"{seconds:.1f} s"
        if code == runs.INTERRUPTED:
            print(f"{took:>10}  interrupted", file=sys.stderr)
            return code, ""
        if code not in (runs.DONE, runs.NOT_MET):
            print(f"{took:>10}  failed (exit code {code})", file=sys.stderr)
            print("\n".join("    " + line for line in output.splitlines()), file=sys.stderr)
            return runs.FAILED, output or f"It ended with exit code {code}."
        run = runs.read(panel.name)
    met = sum(bool(e.get("ok")) for e in run.expectations)
    print(f"{took:>10}  {met}/{len(run.expectations)} expectations met", file=sys.stderr)
    return code, ""


def write_page(program, said):
    """Writes the page from whatever runs there are."""
    names = [p.name for p in PANELS]
    # Runs for a GPU, if somebody made them, are numbers of Table 1.
    kinds = ("table-1-fixed", "table-1-random", "figure-8-left")
    names += [f"{kind}{ours.suffix}" for kind in kinds for ours in OURS]
    found = {name: runs.read(name) for name in dict.fromkeys(names)}
    found = {name: run for name, run in found.items() if run is not None}
    stale, chosen = set(), {}
    for panel in PANELS:
        scenario = pathlib.Path(panel.scenario)
        if panel.name not in found or not scenario.is_file():
            continue
        before = found[panel.name].note.get("scenario")
        if before is not None and before != runs.digest(scenario):
            stale.add(panel.name)
        if any(isinstance(chart, Deadlines) and chart.mark_chosen for chart in panel.charts):
            chosen[panel.name] = runs.least_bound(program, scenario)
    path = runs.ROOT / "index.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    # What this program does not run.
    there = {file.stem for file in pathlib.Path("scenarios/paper").glob("*.toml")}
    others = sorted(there - {panel.name for panel in PANELS})
    path.write_text(page(found, said, stale, chosen, others), encoding="utf-8")
    return path


if __name__ == "__main__":
    sys.exit(main())
