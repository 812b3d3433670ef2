"""What the oracle cannot know and takes from the run: who was drawn at random, and in which order.

Whether a draw was allowed is checked where it is used.
"""

import csv


class Illegal(Exception):
    """The run did what the language does not allow."""


class Given:
    def __init__(self, path):
        with open(path) as file:
            self.rows = list(csv.DictReader(file))
        for place, row in enumerate(self.rows):
            row["place"] = place
        self.taken = set()

    def drawn(self, number, now, among, most):
        """Up to so many rows of clients that set out in a round at an instant, and were not taken yet."""
        key, rows = (str(number), str(now)), []
        for row in self.rows:
            if (row["round"], row["dispatched_ns"]) == key and row["place"] not in self.taken:
                if int(row["client"]) in among and len(rows) < most:
                    rows.append(row)
        self.taken.update(row["place"] for row in rows)
        return rows

    def sets_out(self, number, now):
        """Whether anybody sets out in a round at an instant."""
        return any((row["round"], row["dispatched_ns"]) == (str(number), str(now)) for row in self.rows)
