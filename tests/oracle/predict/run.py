"""The prediction of a whole run."""

from .given import Given
from .rounds import Rounds
from .scenario import Scenario
from .stream import Stream


def predict(text, folder, clients_csv, start=None):
    """Runs a scenario as the documentation says; what was drawn at random comes from the run's clients.csv."""
    scenario = Scenario(text, folder)
    kind = Stream if scenario.one_by_one else Rounds
    return kind(scenario, Given(clients_csv), start or [0.0] * scenario.dim).run()
