"""What a reader sees in report.html, in a headless browser.

    python tests/browser/test_report.py --browser /usr/bin/chromium PROGRAM

makes five runs with PROGRAM and opens their reports. `--folders DIR` takes runs that are there already,
in folders named as in runs.py. scripts/check-report sets everything up.
"""

import argparse
import json
import math
import pathlib
import sys
import tempfile
import time
import unittest

from playwright.sync_api import sync_playwright

# Nothing is left behind in the repository.
sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import runs
import sweeping
from reading import number
from sweep_checks import SweepChecks

LIMIT_BYTES = 5_000_000
LIMIT_SECONDS = 2.0
HOSTILE = ['<img src=x onerror="document.title=\'taken\'">', "<script>document.title='taken'</script>", "</script><b>&amp;"]
ALL_DRAWN = "[...document.querySelectorAll('figure.chart')].every((figure) => figure.dataset.drawn)"


class Visit:
    """A page that is open, and what it did that it should not."""

    def __init__(self, browser, file, width=1200, scheme="light"):
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.complaints, self.requests = [], []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        begin = time.monotonic()
        self.page.goto(file.resolve().as_uri())
        self.page.wait_for_selector("#answer")
        self.seconds = time.monotonic() - begin
        self.page.wait_for_function(ALL_DRAWN)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.context.close()

    def data(self):
        return json.loads(self.page.locator("#data").text_content())

    def chart(self, name):
        return self.page.locator(f"figure[data-chart='{name}']")

    def tip(self):
        """Values of the tip by series, as numbers."""
        rows = self.page.locator(".tip .tip-row")
        values = {}
        for i in range(rows.count()):
            value = rows.nth(i).locator(".tip-value").evaluate("(node) => node.firstChild.textContent")
            values[rows.nth(i).locator(".tip-name").text_content()] = number(value)
        return values

    def hover_end(self, name):
        """Points at the right end of a chart's plot."""
        plot = self.chart(name).locator(".plot")
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        self.page.mouse.move(box["x"] + box["width"] - 10, box["y"] + box["height"] / 2)


class Report:
    """What holds for the report of every run."""

    run_name = None
    files = runs.Run

    @classmethod
    def setUpClass(cls):
        cls.run_files = cls.files(cls.run_name, FOLDER)

    def visit(self, **how):
        return self.open(self.run_files.page, **how)

    def open(self, file, **how):
        return Visit(BROWSER, file, **how)

    def near(self, shown, exact, digits):
        self.assertTrue(math.isclose(shown, exact, rel_tol=0.6 * 10 ** (1 - digits), abs_tol=1e-12), f"{shown} is not {exact}")

    def test_opens_quietly_and_alone(self):
        with self.visit() as visit:
            visit.page.mouse.wheel(0, 20_000)
            self.assertEqual(visit.complaints, [])
            self.assertEqual(visit.requests, [self.run_files.page.resolve().as_uri()])

    def test_every_chart_has_its_series(self):
        with self.visit() as visit:
            expected = self.run_files.charts(visit.data())
            figures = visit.page.locator("figure.chart").all()
            found = {f.get_attribute("data-chart"): int(f.get_attribute("data-series")) for f in figures}
            self.assertEqual(found, expected)
            self.assertEqual(len(figures), len(expected))

    def test_every_chart_says_what_it_shows(self):
        with self.visit() as visit:
            for figure in visit.page.locator("figure.chart").all():
                name = figure.get_attribute("data-chart")
                plot = figure.locator(".plot")
                self.assertEqual(plot.get_attribute("role"), "img", name)
                self.assertGreater(len(plot.get_attribute("aria-label")), 40, name)
                self.assertGreaterEqual(figure.locator("svg .axis-title").count(), 1, name)
                figure.locator("details.rows summary").click()
                figure.locator("details.rows tbody tr").first.wait_for()

    def table(self, visit, name):
        """The text alternative of a chart, row by row."""
        details = visit.chart(name).locator("details.rows")
        details.locator("summary").click()
        details.locator("tbody tr").first.wait_for()
        return details.locator("tbody tr").evaluate_all("(rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent))")

    def test_legend_toggles_series(self):
        for name, drawn in [("time", "svg rect"), ("metric-time", "svg path.line"), ("chi2", "svg path.line")]:
            with self.visit() as visit:
                keys = visit.chart(name).locator(".legend button")
                if keys.count() < 2:
                    continue
                drawn = visit.chart(name).locator(f".plot {drawn}")
                before = drawn.count()
                key = keys.first
                self.assertEqual(key.get_attribute("aria-pressed"), "true")
                key.click()
                self.assertEqual(key.get_attribute("aria-pressed"), "false")
                self.assertLess(drawn.count(), before, name)
                key.click()
                self.assertEqual(drawn.count(), before, name)

    def test_hover_shows_what_rounds_csv_has_at_the_end(self):
        chart, column = ("metric-time", self.run_files.metrics[0]) if self.run_files.metrics else ("chi2", "chi2")
        expected = {variant: self.run_files.last(variant, column) for variant in self.run_files.variants}
        with self.visit() as visit:
            visit.hover_end(chart)
            self.same_values(visit.tip(), expected)
            visit.page.mouse.move(0, 0)
            self.assertTrue(visit.page.locator(".tip").is_hidden())
            visit.chart(chart).locator(".plot").focus()
            visit.page.keyboard.press("End")
            self.same_values(visit.tip(), expected)

    def same_values(self, shown, expected):
        self.assertEqual(shown.keys(), expected.keys())
        for variant, value in expected.items():
            self.near(shown[variant], value, 6)

    def test_table_has_the_numbers_of_the_summary(self):
        with self.visit() as visit:
            for entry in self.run_files.summary["over_seeds"]:
                row = visit.page.locator(f"table.answer tr[data-variant='{entry['name']}']")
                expected = {metric: entry["metrics"][metric]["mean"] for metric in self.run_files.metrics}
                expected |= {key: entry[key]["mean"] for key in ("virtual_seconds", "rounds", "waste", "chi2", "missing_mass")}
                for column, mean in expected.items():
                    cell = row.locator(f"td[data-column='{column}'] data")
                    self.assertEqual(float(cell.get_attribute("value")), mean, column)
                    if cell.text_content().startswith("<"):
                        self.assertLess(mean, number(cell.text_content()))
                    else:
                        # Long durations are told to the second or the minute.
                        self.near(number(cell.text_content()), mean, 2 if column == "virtual_seconds" else 3)

    def test_expectations_are_told(self):
        with self.visit() as visit:
            told = visit.page.locator(".expect li")
            self.assertEqual(told.count(), len(self.run_files.summary["expect"]))
            for i, entry in enumerate(self.run_files.summary["expect"]):
                self.assertIn(entry["that"], told.nth(i).text_content())

    def test_phones_need_not_scroll_sideways(self):
        with self.visit(width=390) as visit:
            self.assertLessEqual(visit.page.evaluate("document.documentElement.scrollWidth"), 390)
            self.assertEqual(visit.complaints, [])

    def test_dark_is_dark(self):
        def brightness(visit, what):
            colour = visit.page.evaluate(f"getComputedStyle(document.body).{what}")
            return sum(int(part) for part in colour[4:-1].split(",")) / 765

        with self.visit(scheme="dark") as visit:
            self.assertLess(brightness(visit, "backgroundColor"), 0.2)
            self.assertGreater(brightness(visit, "color"), 0.7)
            self.assertEqual(visit.complaints, [])
            visit.page.emulate_media(media="print")
            self.assertGreater(brightness(visit, "backgroundColor"), 0.9)

    def test_prints_all_charts(self):
        with self.visit() as visit:
            self.assertTrue(visit.page.pdf(format="A4").startswith(b"%PDF"))
            self.assertEqual(visit.complaints, [])
            visit.page.emulate_media(media="print")
            idle = visit.page.locator(".controls input, details.rows, nav, button.copy")
            self.assertEqual([node for node in idle.all() if node.is_visible()], [])
            # What was chosen is told.
            self.assertTrue(all(node.is_visible() for node in visit.page.locator(".controls select").all()))

    def test_is_small_and_opens_fast(self):
        self.assertLess(self.run_files.page.stat().st_size, LIMIT_BYTES)
        seconds = []
        for _ in range(3):
            with self.visit() as visit:
                seconds.append(visit.seconds)
        # The machine may be busy with something else; the page is as fast as its fastest opening.
        self.assertLess(min(seconds), LIMIT_SECONDS)


class EveryRow:
    """What holds where every update that was used has a row in clients.csv."""

    def used(self):
        rows = [row for row in self.run_files.rows("clients.csv") if row["outcome"] == "used"]
        self.assertEqual(len(rows), sum(run["outcomes"]["used"] for run in self.run_files.summary["variants"]))
        return rows

    def test_bars_of_local_steps_count_every_update_once(self):
        used = self.used()
        with self.visit() as visit:
            bars = self.table(visit, "tau-class")
        total, ends = 0, {}
        for variant, kind, low, high, count in bars:
            low, high, count = map(number, (low, high, count))
            self.assertGreater(low, ends.get((variant, kind), -1), "bars do not overlap")
            ends[variant, kind] = high
            inside = [row for row in used if (row["variant"], row["class"]) == (variant, kind) and low <= int(row["tau"]) <= high]
            self.assertEqual(count, len(inside), f"{variant} {kind} {low} to {high}")
            total += count
        self.assertEqual(total, len(used))


class Stale(EveryRow):
    """And where some of them were stale."""

    def test_staleness_is_that_of_the_updates(self):
        used = self.used()
        with self.visit() as visit:
            points = self.table(visit, "staleness")
        for variant, most, share in points:
            own = [int(row["staleness"]) for row in used if row["variant"] == variant]
            within = sum(missed <= number(most) for missed in own) / len(own)
            self.near(number(share), within, 4)
        self.assertEqual(number(points[-1][2]), 1.0)


class One(EveryRow, Report, unittest.TestCase):
    """One variant, one seed; HTML in its description, its scenario and the name of its folder."""

    run_name = "one"

    def test_html_from_outside_is_text(self):
        with self.visit() as visit:
            header = visit.page.locator("header").text_content()
            self.assertIn("<script>alert('description')</script> &amp; nothing else", header)
            self.assertIn("<img src=x onerror=alert(1)>", visit.page.locator("#page").text_content())
            self.assertEqual(visit.page.locator("main img, main script").count(), 0)
            self.assertEqual(visit.complaints, [])

    def test_names_with_html_are_text(self):
        with tempfile.TemporaryDirectory() as folder, self.visit() as visit:
            file = pathlib.Path(folder) / "report.html"
            file.write_text(disguised(self.run_files.page.read_text(), visit.data()))
            with Visit(BROWSER, file) as other:
                text = other.page.locator("#page").text_content()
                for name in HOSTILE:
                    self.assertIn(name, text)
                other.hover_end("metric-time")
                self.assertIn(HOSTILE[0], other.page.locator(".tip").text_content())
                self.assertEqual(other.page.locator("main img, main script, main b").count(), 0)
                self.assertNotEqual(other.page.title(), "taken")
                self.assertEqual(other.complaints, [])
                self.assertEqual(len(other.requests), 1)


class Six(Stale, Report, unittest.TestCase):
    """Six variants with three seeds each, and a target."""

    run_name = "six"

    def test_seeds_make_bands(self):
        with self.visit() as visit:
            self.assertEqual(visit.chart("metric-time").locator("path.line").count(), 6)
            self.assertGreaterEqual(visit.chart("metric-time").locator("path.band").count(), 5)
            self.assertEqual(visit.chart("heard").get_attribute("data-panels"), "6")

    def test_target_is_drawn_and_timed(self):
        with self.visit() as visit:
            self.assertIn("target", visit.chart("metric-time").locator("text.goal").text_content())
            for variant in self.run_files.variants:
                cell = visit.page.locator(f"tr[data-variant='{variant}'] td[data-column='time_to_target']")
                times = [run["target"]["virtual_seconds"] for run in self.run_files.summary["variants"]
                         if run["name"] == variant and run["target"]["reached"]]
                if times:
                    self.near(float(cell.locator("data").get_attribute("value")), sum(times) / len(times), 12)
                else:
                    self.assertEqual(cell.text_content(), "not reached")

    def test_another_metric_can_be_chosen(self):
        with self.visit() as visit:
            visit.page.locator("#metrics select").first.select_option("test_accuracy")
            visit.hover_end("metric-rounds")
            expected = {variant: self.run_files.last(variant, "test_accuracy") for variant in self.run_files.variants}
            self.same_values(visit.tip(), expected)


class Async(Stale, Report, unittest.TestCase):
    """No rounds to wait for, and events."""

    run_name = "async"

    def test_events_are_marked_on_time_axes(self):
        with self.visit() as visit:
            self.assertEqual(visit.page.locator(".events li").count(), 2)
            for chart in ("metric-time", "chi2"):
                self.assertEqual(visit.chart(chart).locator("g.event").count(), 2, chart)


class Million(Report, unittest.TestCase):
    """A million clients, timing only."""

    run_name = "million"

    def test_says_that_nothing_was_trained(self):
        with self.visit() as visit:
            self.assertIn("Nothing was trained", visit.page.locator("#metrics").text_content())

    def test_clients_are_counted_not_listed(self):
        with self.visit() as visit:
            heard = visit.data()["folders"][0]["runs"][0]["heard"]
            self.assertEqual(heard["clients"], 1_000_000)
            self.assertIsNone(heard["points"])
            self.assertEqual(sum(cell[4] for cell in heard["cells"]), 1_000_000)


class Sweep(SweepChecks, Report, unittest.TestCase):
    """Two variants, two swept keys, three seeds, and a target that some miss."""

    run_name = "sweep"
    files = sweeping.Sweep


def disguised(page, data):
    """The page with hostile names of the variant, a class and an event."""
    folder = data["folders"][0]
    for entry in folder["summary"]["variants"] + folder["summary"]["over_seeds"]:
        entry["name"] = HOSTILE[0]
    for run in folder["runs"]:
        run["variant"] = HOSTILE[0]
        run["classes"][0]["name"] = HOSTILE[1]
        run["events"] = [{"at": 1.0, "until": None, "what": HOSTILE[2]}]
    return sweeping.replaced(page, data)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--browser", required=True)
    arguments.add_argument("--folders", type=pathlib.Path)
    arguments.add_argument("program", nargs="?")
    chosen, others = arguments.parse_known_args()
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        FOLDER = chosen.folders or pathlib.Path(scratch)
        if not chosen.folders:
            runs.make(chosen.program, FOLDER)
        BROWSER = playwright.chromium.launch(executable_path=chosen.browser, args=["--no-sandbox"])
        result = unittest.main(argv=[sys.argv[0], *others], exit=False).result
        BROWSER.close()
    sys.exit(not result.wasSuccessful())
