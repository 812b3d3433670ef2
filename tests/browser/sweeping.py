"""What the page of a sweep must show, computed once more from summary.json."""

import json
import math

import runs

# Student's t for an interval of 95 %, by degrees of freedom, as tables have it.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262, 29: 2.045}
TARGET = "time_to_target"


class Sweep(runs.Run):
    """The files of a sweep. What the page's other charts show is some of its combinations."""

    @property
    def swept(self):
        return self.summary["swept"]

    @property
    def combinations(self):
        return [entry["name"] for entry in self.summary["over_seeds"]]

    @property
    def own_variants(self):
        return list(dict.fromkeys(entry["variant"] for entry in self.summary["over_seeds"]))

    @property
    def variants(self):
        """The best combination of each variant, best first."""
        order = self.ranked(TARGET)
        order += [name for name in self.combinations if name not in order]
        return list({self.entry(name)["variant"]: name for name in reversed(order)}.values())[::-1]

    @property
    def metrics(self):
        measured = self.summary["over_seeds"][0]["metrics"]
        return [metric for metric in runs.METRICS if metric in measured]

    def entry(self, name):
        return next(entry for entry in self.summary["over_seeds"] if entry["name"] == name)

    def named(self, variant, **swept):
        """The combination with these values of the swept keys, by their labels."""
        keys = {key["label"]: key["key"] for key in self.swept}
        wanted = {keys[label]: value for label, value in swept.items()}
        return next(entry["name"] for entry in self.summary["over_seeds"] if entry["variant"] == variant and entry["swept"] == wanted)

    def values(self, name, measure):
        """By seed; None where a run has no value."""
        return {run["seed"]: value_of(run, measure) for run in self.summary["variants"] if run["name"] == name}

    def interval(self, name, measure):
        return interval(list(self.values(name, measure).values()))

    def paired(self, name, reference, measure):
        ours, theirs = self.values(name, measure), self.values(reference, measure)
        pairs = [(ours[seed], theirs[seed]) for seed in ours if seed in theirs]
        return interval([None if None in pair else pair[0] - pair[1] for pair in pairs])

    def ranked(self, measure):
        means = {name: self.interval(name, measure)[0] for name in self.combinations}
        return sorted((name for name in means if means[name] is not None), key=lambda name: means[name])

    def last(self, variant, column):
        return self.entry(variant)["metrics"][column]["mean"]

    def stale(self):
        return 0

    def lost(self):
        chosen = Sweep.__new__(Sweep)
        chosen.summary = {"variants": [run for run in self.summary["variants"] if run["name"] in self.variants]}
        return super(Sweep, chosen).lost()

    def charts(self, data):
        lines = len(self.own_variants)
        return super().charts(data) | {
            "sweep-metric": lines, "sweep-target": lines, "sweep-chi2": lines, "sweep-bytes": lines, "sweep-map": 1,
        }


def value_of(run, measure):
    if run.get("diverged"):
        return None
    if measure == TARGET:
        return run["target"]["virtual_seconds"] if run["target"]["reached"] else None
    if measure == "bytes":
        return run["bytes"]["up"] + run["bytes"]["down"]
    return run[measure] if measure in run else run["metrics"][measure]


def interval(values):
    """Mean and both ends; nothing where a value is missing, no ends for a single one."""
    if None in values or not values:
        return None, None, None
    n, mean = len(values), sum(values) / len(values)
    if n == 1:
        return mean, None, None
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1))
    reach = STUDENT[n - 1] * deviation / math.sqrt(n)
    return mean, mean - reach, mean + reach


def with_fewer_seeds(page, data):
    """The page with one seed only."""
    summary = data["folders"][0]["summary"]
    first = summary["variants"][0]["seed"]
    summary["variants"] = [run for run in summary["variants"] if run["seed"] == first]
    return replaced(page, data)


def replaced(page, data):
    """The page with other data."""
    opening = '<script type="application/json" id="data">'
    before, rest = page.split(opening, 1)
    return before + opening + json.dumps(data).replace("<", "\\u003c") + rest[rest.index("</script>"):]
