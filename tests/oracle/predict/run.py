"""The prediction of a whole run."""

from .given import Given
from .rounds import Rounds
from .scenario import Scenario
from .stream import Stream


def predict(text, folder, clients_csv, slack=0):
    """Runs a scenario as the documentation says; what was drawn at random comes from the run's clients.csv,
    whose times may be so many nanoseconds off."""
    scenario = Scenario(text, folder)
    kind = Stream if scenario.one_by_one else Rounds
    return kind(scenario, Given(clients_csv, slack), scenario.start()).run()
