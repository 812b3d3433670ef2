"""What the oracle cannot know and takes from the run: who was drawn at random, and in which order.

Whether a draw was allowed is checked where it is used.
"""

import csv


class Illegal(Exception):
    """The run did what the language does not allow."""


class Given:
    def __init__(self, path, slack):
        self.slack = slack
        with open(path) as file:
            self.rows = list(csv.DictReader(file))
        for place, row in enumerate(self.rows):
            row["place"] = place
        self.taken = set()

    def drawn(self, number, now, among, most):
        """Up to so many rows of clients that set out in a round at an instant, and were not taken yet."""
        rows = []
        for row in self.rows:
            if self.at(row, number, now) and row["place"] not in self.taken:
                if int(row["client"]) in among and len(rows) < most:
                    rows.append(row)
        self.taken.update(row["place"] for row in rows)
        return rows

    def place(self, client, nth):
        """Where a client's n-th row stands among all: rows stand in the order in which clients are back."""
        rows = [row["place"] for row in self.rows if int(row["client"]) == client]
        return rows[nth] if nth < len(rows) else len(self.rows)

    def weight(self, trip):
        place = self.place(trip.client, trip.nth)
        return float(self.rows[place]["weight"]) if place < len(self.rows) else 1.0

    def at(self, row, number, now):
        return int(row["round"]) == number and abs(int(row["dispatched_ns"]) - now) <= self.slack

    def sets_out(self, number, now):
        """Whether anybody sets out in a round at an instant."""
        return any(self.at(row, number, now) for row in self.rows)
