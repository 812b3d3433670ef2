"""What a run leaves, read by the tools that others read it with.

Usage: python test_readers.py PROGRAM
"""

import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCENARIO = pathlib.Path(__file__).with_name("scenario.toml")


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


class Readers(unittest.TestCase):
    program = ""

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name) / "run"
        cls.board = pathlib.Path(cls.temporary.name) / "board"
        command = [cls.program, "run", SCENARIO, "--out", cls.folder, "--tensorboard", cls.board, "--parquet", "-q"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        cls.summary = json.loads((cls.folder / "summary.json").read_text())

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_tensorboard_reads_every_scalar(self):
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

        expected = rows(self.folder / "rounds.csv")
        self.assertEqual(sorted(path.name for path in self.board.iterdir()), ["avg-3", "avg-4", "nova-3", "nova-4"])
        for path in self.board.iterdir():
            events = EventAccumulator(str(path), size_guidance={"scalars": 0})
            events.Reload()
            variant, seed = path.name.rsplit("-", 1)
            own = [row for row in expected if row["variant"] == variant and row["seed"] == seed]
            tags = events.Tags()["scalars"]
            self.assertIn("metric/test_accuracy", tags)
            for tag in tags:
                column = tag.split("/")[1]
                known = [row for row in own if row[column] != ""]
                scalars = events.Scalars(tag)
                self.assertEqual([scalar.step for scalar in scalars], [int(row["round"]) for row in known], tag)
                for scalar, row in zip(scalars, known):
                    self.assertTrue(math.isclose(scalar.value, float(row[column]), rel_tol=1e-6, abs_tol=1e-30), tag)
                    self.assertEqual(scalar.wall_time, float(row["virtual_seconds"]))

    def test_arrow_reads_every_cell(self):
        from pyarrow import parquet

        for name in ["rounds", "clients"]:
            expected = rows(self.folder / f"{name}.csv")
            table = parquet.read_table(self.folder / f"{name}.parquet")
            self.assertEqual(table.num_rows, len(expected))
            self.assertEqual(table.column_names, list(expected[0]))
            for column in table.column_names:
                for cell, row in zip(table[column].to_pylist(), expected):
                    text = row[column]
                    if text == "":
                        self.assertIsNone(cell)
                    elif isinstance(cell, str):
                        self.assertEqual(cell, text)
                    else:
                        self.assertEqual(cell, type(cell)(text), column)

    def test_hdrhistogram_reads_the_latencies(self):
        from hdrh.histogram import HdrHistogram
        from hdrh.log import HistogramLogReader

        reader = HistogramLogReader(str(self.folder / "latency.hlog"), HdrHistogram(1, 1 << 50, 3))
        found = {}
        while True:
            histogram = reader.get_next_interval_histogram()
            if histogram is None:
                break
            found[histogram.get_tag()] = histogram
        for run in self.summary["variants"]:
            for phase, known in run["latency_seconds"].items():
                histogram = found[f"{run['name']}-{run['seed']}.{phase}"]
                self.assertEqual(histogram.get_total_count(), known["count"], phase)
                if known["count"]:
                    median = histogram.get_value_at_percentile(50) / 1e9
                    self.assertTrue(math.isclose(median, known["p50"], rel_tol=2e-3, abs_tol=1e-9), phase)


if __name__ == "__main__":
    Readers.program = sys.argv.pop(1)
    unittest.main()
