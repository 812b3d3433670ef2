"""What a reader sees in the section of a sweep."""

import json
import pathlib
import tempfile

import sweeping
from reading import number

MEASURES = {"sweep-metric": "test_accuracy", "sweep-target": "time_to_target", "sweep-chi2": "chi2", "sweep-bytes": "bytes"}
EMPTY = "–"


class SweepChecks:
    """Beside what holds for every report: numbers, choices, keyboard. `visit` and `near` are the report's."""

    def same(self, shown, exact, digits=3):
        if exact is None:
            self.assertEqual(shown, EMPTY)
        elif abs(exact) < 1e-9:
            self.assertLess(abs(number(shown)), 1e-9)
        else:
            self.near(number(shown), exact, digits)

    def label(self, visit, selector, name, index=0):
        """The select with this label inside a node."""
        labels = visit.page.locator(f"{selector} label.choice:has(select)").all()
        found = [label for label in labels if label.evaluate("(node) => node.firstChild.textContent.trim()") == name]
        return found[index].locator("select")

    def test_the_sweep_comes_first_and_names_the_best(self):
        best = self.run_files.ranked(sweeping.TARGET)[0]
        mean, low, high = self.run_files.interval(best, sweeping.TARGET)
        with self.visit() as visit:
            self.assertEqual(visit.page.locator("main > section").first.get_attribute("id"), "sweep")
            sentence = visit.page.locator("#sweep .sentence").text_content().replace("\u00a0", " ")
            self.assertTrue(sentence.startswith(f"{best} reached test accuracy ≥ 0.7 first"), sentence)
            self.assertIn(f"{float(f'{mean:.3g}'):g} s of simulated time", sentence)
            self.assertIn("95 % interval", sentence)

    def test_student_is_that_of_tables(self):
        with self.visit() as visit:
            for freedom, exact in sweeping.STUDENT.items():
                self.assertAlmostEqual(visit.page.evaluate(f"G.studentT({freedom})"), exact, delta=6e-4)

    def test_curves_have_means_and_intervals(self):
        for chart, measure in MEASURES.items():
            with self.subTest(chart), self.visit() as visit:
                rows = self.table(visit, chart)
                self.assertEqual(len(rows), len(self.run_files.combinations))
                for lr, variant, deadline, mean, low, high, seeds, without in rows:
                    name = self.run_files.named(variant, deadline=deadline, lr=float(lr))
                    values = self.run_files.values(name, measure)
                    for shown, exact in zip((mean, low, high), self.run_files.interval(name, measure)):
                        self.same(shown, exact)
                    self.assertEqual(int(seeds), len(values))
                    missing = sum(value is None for value in values.values())
                    self.assertEqual(int(without.split(" ")[0] or 0), missing, name)

    def test_a_target_that_is_not_reached_is_no_number(self):
        censored = [name for name in self.run_files.combinations if self.run_files.interval(name, sweeping.TARGET)[0] is None]
        self.assertTrue(censored, "the scenario has some")
        with self.visit() as visit:
            chart = visit.chart("sweep-target")
            self.assertGreater(chart.locator("svg .lacking").count(), 0)
            self.assertIn("not reached", chart.locator("svg").text_content())
            if any(self.run_files.entry(name)["variant"] == "fednova" for name in censored):
                self.assertIn("not reached", visit.page.locator("figure[data-chart='sweep-map'] svg").text_content())

    def test_seeds_are_dots_and_lines_are_lit(self):
        with self.visit() as visit:
            chart = visit.chart("sweep-metric")
            chart.scroll_into_view_if_needed()
            self.assertGreater(chart.locator("svg .seeds").count(), 0)
            key = visit.page.locator("#sweep .legend button").nth(1)
            key.focus()
            self.assertEqual(visit.page.locator("#sweep .sweep-curves.lighting").count(), 1)
            lit = chart.locator("g.series.lit").evaluate_all("(nodes) => nodes.map((node) => node.dataset.line)")
            self.assertEqual(set(lit), {"1"})
            before = chart.locator("g.series").count()
            key.press("Enter")
            self.assertEqual(key.get_attribute("aria-pressed"), "false")
            self.assertLess(chart.locator("g.series").count(), before)
            visit.page.mouse.click(5, 5)

    def test_other_axes_can_be_chosen(self):
        with self.visit() as visit:
            self.label(visit, "#sweep .sweep-curves", "below").select_option("client.lr")
            svg = visit.chart("sweep-chi2").locator("svg")
            self.assertIn("deadline = 5s", svg.text_content())
            self.label(visit, "#sweep .sweep-curves", "panels").select_option("")
            self.assertNotIn("deadline = 5s", svg.text_content())
            self.label(visit, "#sweep .sweep-curves", "deadline").select_option("1")
            alone = self.table(visit, "sweep-chi2")
            self.assertEqual(len(alone), 2 * len(self.run_files.own_variants))
            for variant, lr, mean, *_ in alone:
                name = self.run_files.named(variant, deadline="2s", lr=float(lr))
                self.same(mean, self.run_files.interval(name, "chi2")[0])
            self.assertEqual(visit.complaints, [])

    def test_the_map_has_every_cell_and_marks_the_best(self):
        with self.visit() as visit:
            self.label(visit, "#sweep figure[data-chart='sweep-map']", "measure").select_option("test_accuracy")
            self.label(visit, "#sweep figure[data-chart='sweep-map']", "variant").select_option("0")
            chart = visit.chart("sweep-map")
            self.assertEqual(chart.locator("svg .map-cell").count(), 6)
            means = {}
            for lr, deadline, mean, *_ in self.table(visit, "sweep-map"):
                name = self.run_files.named(self.run_files.own_variants[0], deadline=deadline, lr=float(lr))
                means[lr, deadline] = self.run_files.interval(name, "test_accuracy")[0]
                self.same(mean, means[lr, deadline])
            self.assertEqual(chart.locator("svg .map-frame").count(), 1)
            lr, deadline = max(means, key=means.get)
            self.assertIn(f"lr = {lr}, deadline = {deadline}", chart.locator(".plot").get_attribute("aria-label"))
            chart.locator(".plot").focus()
            visit.page.keyboard.press("Home")
            self.assertIn("lr = 0.01, deadline = 1s", visit.page.locator(".tip-title").text_content())
            self.near(visit.tip()["final test accuracy"], means["0.01", "1s"], 4)

    def test_pairs_are_differences_by_seed(self):
        first, other = self.run_files.own_variants
        with self.visit() as visit:
            self.label(visit, "#sweep .pairs-block", "measure").select_option("test_accuracy")
            rows = visit.page.locator("table.pairs tbody tr")
            self.assertEqual(rows.count(), 6)
            for row in rows.all():
                name = row.get_attribute("data-combination")
                swept = self.run_files.entry(name)["swept"]
                self.assertEqual(self.run_files.entry(name)["variant"], other)
                reference = self.run_files.named(first, deadline=swept["server.close.deadline"], lr=swept["client.lr"])
                mean, low, high = self.run_files.paired(name, reference, "test_accuracy")
                self.same(row.locator("[data-column='difference']").text_content().removeprefix("+"), mean)
                shown = row.locator("[data-column='interval']").text_content().split(" to ")
                for text, exact in zip(shown, (low, high)):
                    self.same(text.removeprefix("+"), exact)
                self.assertIn(" of 3", row.locator("[data-column='seeds']").text_content())

    def test_pairs_sort_and_say_what_is_not_known(self):
        with self.visit() as visit:
            self.label(visit, "#sweep .pairs-block", "measure").select_option("test_accuracy")
            visit.page.locator("table.pairs button.sort", has_text="mean difference").click()
            head = visit.page.locator("table.pairs th[aria-sort='ascending']")
            self.assertIn("mean difference", head.text_content())
            shown = visit.page.locator("table.pairs td[data-column='difference']").all_text_contents()
            values = [number(text.removeprefix("+")) for text in shown]
            self.assertEqual(values, sorted(values))
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "report.html"
                file.write_text(sweeping.with_fewer_seeds(self.run_files.page.read_text(), visit.data()))
                with self.open(file) as single:
                    self.label(single, "#sweep .pairs-block", "measure").select_option("test_accuracy")
                    cells = single.page.locator("table.pairs td[data-column='interval']").all_text_contents()
                    self.assertEqual(set(cells), {"none: one seed"})
                    self.assertIn("one seed", single.page.locator("#sweep").text_content())
                    self.assertEqual(single.chart("sweep-metric").locator("svg .whisker").count(), 0)

    def test_other_combinations_can_be_chosen(self):
        with self.visit() as visit:
            self.assertIn(f"show 2 of {len(self.run_files.combinations)}", visit.page.locator("#combinations [role=status]").text_content())
            self.label(visit, "#combinations", "show").select_option("1")
            self.assertEqual(visit.chart("metric-time").get_attribute("data-series"), "3")
            visit.page.locator("#combinations summary").click()
            visit.page.locator("#combinations .grid-of-boxes input:not(:checked)").first.check()
            self.assertEqual(visit.chart("metric-time").get_attribute("data-series"), "4")
            visit.page.wait_for_function("[...document.querySelectorAll('figure.chart')].every((figure) => figure.dataset.drawn)")
            self.assertEqual(visit.complaints, [])

    def test_the_table_has_columns_for_swept_keys(self):
        with self.visit() as visit:
            for entry in self.run_files.summary["over_seeds"]:
                row = visit.page.locator(f"table.answer tr[data-variant='{entry['name']}']")
                for key, value in entry["swept"].items():
                    self.assertEqual(row.locator(f"td[data-column='{key}']").text_content(), str(value))

    def test_names_of_variants_and_values_are_text(self):
        hostile = '<img src=x onerror="document.title=\'taken\'">'
        with self.visit() as visit, tempfile.TemporaryDirectory() as folder:
            data = visit.data()
            summary = data["folders"][0]["summary"]
            for entry in summary["variants"] + summary["over_seeds"]:
                entry["variant"] = entry["variant"].replace("fedavg", hostile)
                if entry["swept"]["server.close.deadline"] == "1s":
                    entry["swept"]["server.close.deadline"] = hostile
            summary["swept"][0]["values"][0] = hostile
            summary["swept"][0]["label"] = hostile
            file = pathlib.Path(folder) / "report.html"
            file.write_text(sweeping.replaced(self.run_files.page.read_text(), data))
            with self.open(file) as other:
                self.assertIn(hostile, other.page.locator("#sweep").text_content())
                self.assertEqual(other.page.locator("main img, main script").count(), 0)
                self.assertNotEqual(other.page.title(), "taken")
                self.assertEqual(other.complaints, [])

    def test_a_page_of_two_folders_has_both(self):
        with self.visit() as visit, tempfile.TemporaryDirectory() as folder:
            data = visit.data()
            plain = json.loads(json.dumps(data["folders"][0]))
            del plain["summary"]["swept"]
            for entry in plain["summary"]["variants"] + plain["summary"]["over_seeds"]:
                del entry["swept"], entry["variant"]
            plain["folder"] = "runs/plain"
            data["folders"].append(plain)
            file = pathlib.Path(folder) / "report.html"
            file.write_text(sweeping.replaced(self.run_files.page.read_text(), data))
            with self.open(file) as both:
                self.assertEqual(both.page.locator("section[id^='sweep']").count(), 1)
                rows = both.page.locator("table.answer tbody tr")
                self.assertEqual(rows.count(), 2 * len(self.run_files.combinations))
                self.assertEqual(both.complaints, [])
