"""The prediction of a whole run."""

from .given import Given
from .quadratic import Quadratic
from .rounds import Rounds
from .scenario import Scenario
from .stream import Stream


def predict(text, folder, clients_csv, slack=0, task=None):
    """Runs a scenario as the documentation says; what was drawn at random comes from the run's clients.csv,
    whose times may be so many nanoseconds off. The task is the scenario's quadratic unless one is given."""
    scenario = Scenario(text, folder, task.size if task else None)
    kind = Stream if scenario.one_by_one else Rounds
    return kind(scenario, Given(clients_csv, slack), task or Quadratic(scenario.task, scenario.dim)).run()
