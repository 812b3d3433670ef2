"""The runs whose reports are checked, and what their files say the reports must show."""

import csv
import json
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent
# Names of folders are free text: this one would show an alert if it were taken for HTML.
FOLDERS = {"one": "one <img src=x onerror=alert(1)>", "six": "six", "async": "async", "million": "million", "sweep": "sweep"}
METRICS = ["test_accuracy", "distance", "train_loss", "test_loss", "grad_norm"]


def make(program, folder):
    """Runs every scenario with `program`, each into a folder inside `folder`."""
    for name, sub in FOLDERS.items():
        scenario = HERE / "scenarios" / f"{name}.toml"
        command = [program, "run", "--quiet", str(scenario), "--out", str(folder / sub)]
        if name == "million":
            command.append("--timing-only")
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


class Run:
    """A run's files."""

    def __init__(self, name, folder):
        self.name = name
        self.folder = folder / FOLDERS[name]
        self.page = self.folder / "report.html"
        self.summary = json.loads((self.folder / "summary.json").read_text())
        self.rounds = self.rows("rounds.csv")

    def rows(self, file):
        with open(self.folder / file, newline="") as lines:
            return list(csv.DictReader(lines))

    @property
    def variants(self):
        return [entry["name"] for entry in self.summary["over_seeds"]]

    @property
    def metrics(self):
        """What the table shows, the target's metric first."""
        measured = self.summary["over_seeds"][0]["metrics"]
        first = ["train_loss"] if self.name == "six" else []
        return [m for m in dict.fromkeys(first + METRICS) if m in measured]

    def last(self, variant, column):
        """The mean over seeds of the last value in rounds.csv, or of the one at the very end: a run
        that [stop] time ends in the middle of a round is measured once more."""
        by_seed, closed = {}, {}
        for row in self.rounds:
            if row["variant"] == variant and row[column] != "":
                by_seed[row["seed"]] = float(row[column])
                closed[row["seed"]] = float(row["virtual_seconds"])
        for run in self.summary["variants"]:
            seed = str(run["seed"])
            if run["name"] == variant and column in run["metrics"] and run["virtual_seconds"] > closed[seed]:
                by_seed[seed] = run["metrics"][column]
        return sum(by_seed.values()) / len(by_seed)

    def charts(self, data):
        """Charts and their number of series. `data` is what the page holds."""
        variants = len(self.variants)
        classes = len(self.summary["variants"][0]["time"])
        charts = {"latency": variants, "tau-class": classes, "tau-rounds": variants, "heard": heard(data), "chi2": variants,
                  "time": 5, "lanes": 3}
        if self.metrics:
            charts |= {"metric-time": variants, "metric-rounds": variants}
        if stale := self.stale():
            charts["staleness"] = stale
        if lost := self.lost():
            charts["losses"] = lost
        return charts

    def stale(self):
        """Variants that used updates which had missed an aggregation."""
        return len({row["variant"] for row in self.rows("clients.csv") if row["outcome"] == "used" and int(row["staleness"]) > 0})

    def lost(self):
        """Ways in which participations came to nothing; none if they were only cut off by the end."""
        ways = set()
        for run in self.summary["variants"]:
            ways |= {way for way in ("late", "no_step", "unfinished") if run["outcomes"][way] > 0}
            ways |= {(way, leg) for way, legs in run["losses"].items() for leg, count in legs.items() if count > 0}
        return 0 if ways <= {"unfinished"} else len(ways)


def heard(data):
    """Classes that clients or groups of clients belong to; a mixed group is one more."""
    kinds = set()
    for run in data["folders"][0]["runs"]:
        if run["seed"] != data["folders"][0]["runs"][0]["seed"]:
            continue
        if run["heard"]["cells"]:
            kinds |= {cell[5] for cell in run["heard"]["cells"]}
        else:
            kinds |= {point[2] for point in run["heard"]["points"]}
    return len(kinds)
