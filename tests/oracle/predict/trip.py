"""One participation: download, steps, upload. A stage either waits or works something off at a rate."""

from fractions import Fraction

from . import units

PHASES = {
    "down wait": "download",
    "down": "download",
    "compute": "compute",
    "up wait": "upload",
    "up": "upload",
}


class Trip:
    def __init__(self, client, round_number, version, now):
        self.client, self.round, self.version = client, round_number, version
        self.asked_at = now
        self.tie = None  # what orders those who are back at the same instant
        self.planned = None  # steps that it sets out to make, None for as many as fit
        self.deadline = None  # of a client that sends what it has by then
        self.closes = None  # when its round closes at the latest
        self.gives_up = False  # at the deadline, if the model is not there
        self.draws = 1  # how often it was drawn into its round
        self.tau, self.accumulation = 0, 0.0
        self.spent = {"download": 0, "compute": 0, "upload": 0}
        self.outcome, self.arrived_at, self.phase = None, None, "download"
        self.staleness, self.weight = 0, 0.0
        self.unheard = False  # back when the run ended
        self.stage, self.left, self.rate, self.since, self.due = None, None, None, now, None

    def enter(self, stage, now, amount=None, wait=None):
        """Begins a stage that works off an amount at a rate that is set later, or that waits."""
        self.stage, self.phase, self.since = stage, PHASES[stage], now
        self.rate = None
        if wait is not None:
            self.left, self.due = None, now + wait
        else:
            self.left, self.due = Fraction(amount), None

    def settle(self, now):
        """Brings what is left, and the time spent in the phase, up to an instant."""
        self.spent[self.phase] += now - self.since
        if self.left is not None and self.rate is not None:
            self.left -= self.rate * (now - self.since)
        self.since = now

    def at_rate(self, rate, now):
        """Goes on at a rate from now on; None is without limit."""
        self.rate = Fraction(0) if rate is None else rate
        if rate is None or self.left <= 0:
            self.due = now
        else:
            self.due = now + units.ceiling(self.left / rate) if rate else None

    def end(self, outcome, now):
        self.outcome, self.arrived_at = outcome, now
        if outcome == "arrived":
            self.phase = "done"
        elif outcome != "unfinished" or self.stage:
            self.tau = 0
        self.stage = None
