"""Compares a program with another one, with recorded results, or with itself."""

import concurrent.futures
import shutil
import sys
import time

import runs
from differences import differences
from runs import THREADS, Failed, Run


class Comparison:
    """A program, and what its results are compared with: those of an old program, those that were recorded,
    or its own on one thread. With itself all files are compared, and every number of threads may be run several
    `times`. `runs` and `files` count what was compared."""

    def __init__(self, program, old=None, recorded=None, whole=False, times=1):
        self.program, self.old, self.recorded = program, old, recorded
        self.whole, self.times = whole, times
        self.runs = self.files = 0

    def of(self, scenarios, folder, jobs):
        """Compares all. Returns the results by scenario, and the names of those that differ or failed."""
        results, differ, began = {}, set(), time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            numbered = enumerate(scenarios)
            waiting = {pool.submit(self.of_one, it, folder / str(number)): it for number, it in numbered}
            try:
                for done, future in enumerate(concurrent.futures.as_completed(waiting), start=1):
                    name = waiting[future].name
                    found, lines = future.result()
                    if found:
                        results[name] = found
                    if lines:
                        differ.add(name)
                        progress("")
                        print("\n  ".join([name, *lines]), flush=True)
                    seconds = time.monotonic() - began
                    differing = f", {len(differ)} differ" if differ else ""
                    progress(f"{done} of {len(scenarios)} scenarios, {seconds:.0f} s{differing}", done)
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                runs.end_all()
                raise
        progress("")
        return {it.name: results[it.name] for it in scenarios if it.name in results}, differ

    def of_one(self, scenario, folder):
        """Runs a scenario on every number of threads. Returns what came out, and what differs."""
        folder.mkdir(parents=True)
        try:
            expected, reference = None, None
            if self.recorded is not None:
                expected = self.recorded.get(scenario.name)
                if expected is None:
                    return None, ["is not among the recorded scenarios: record again"]
            elif self.old:
                try:
                    run = Run(self.old, scenario, 1, folder / "old")
                except Failed as failed:
                    return None, [f"the old program: {failed}"]
                expected, reference = run.results, run.folder
            # What is found, and on which numbers of threads.
            found, on = None, {}
            for number, threads in enumerate(THREADS * self.times):
                try:
                    run = Run(self.program, scenario, threads, folder / str(number), self.whole)
                except Failed as failed:
                    on.setdefault(str(failed), []).append(threads)
                    continue
                found = found or run.results
                self.runs += 1
                self.files += sum(map(runs.is_file, run.results))
                if expected is None:
                    expected, reference = run.results, run.folder
                for line in differences(expected, run.results, reference and (reference, run.folder)):
                    on.setdefault(line, []).append(threads)
                if run.folder != reference:
                    shutil.rmtree(run.folder)
            return found, [f"{on_threads(sorted(set(numbers)))}{line}" for line, numbers in on.items()]
        finally:
            shutil.rmtree(folder)


def on_threads(numbers):
    if numbers == THREADS:
        return ""
    return f"on {' and '.join(map(str, numbers))} thread{'s' if numbers != [1] else ''}: "


def progress(text, count=0):
    """One line that is written over; where it cannot be, one every ten scenarios."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    elif text and count % 10 == 0:
        print(text, file=sys.stderr, flush=True)
