"""Running a scenario, and what is kept of a run: its digests and hashes, and where its files are."""

import collections
import fnmatch
import gzip
import hashlib
import json
import pathlib
import subprocess

# Both programs are compared on these numbers of threads.
THREADS = [1, 2, 7]
# Files whose bytes are compared.
FILES = ["rounds.csv", "clients.csv"]
# Where a program is compared with itself: everything that it leaves but for the page, which holds nothing that
# the others have not, and how fast the run was.
MORE_FILES = ["summary.json", "findings.json", "latency.hlog", "timeline.json.gz", "model-*.safetensors"]
# A program that takes longer is ended: it hangs.
LIMIT = 600

Scenario = collections.namedtuple("Scenario", "name path hash")


# Programs that run now, and whether no more are to be started.
running, ended = set(), False


class Failed(Exception):
    """The program did not run the scenario to its end; the message says why."""


class Run:
    """A finished run: its folder, and `results`, which can be written to a file and compared."""

    def __init__(self, program, scenario, threads, folder, whole=False):
        self.folder = pathlib.Path(folder)
        command = [program, "--quiet", "run", scenario.path, "--threads", str(threads), "--out", folder]
        code, said = outcome(command)
        try:
            summary = json.loads((self.folder / "summary.json").read_text())
        except (OSError, ValueError):
            summary = {}
        # 1 is also the exit code of a run that diverged, and 3 that of an expectation that is not met.
        if code not in (0, 1, 3) or summary.get("status") not in ("complete", "diverged"):
            raise Failed(f"exit code {code}: {said or 'it said nothing'}")
        self.results = {"scenario": scenario.hash, "exit code": code}
        for run in summary["variants"]:
            for key in ("digest", "model_digest"):
                if not run.get(key):
                    raise Failed(f"summary.json has no {key} for variant {run['name']}, seed {run['seed']}")
                self.results[f"{key} of variant {run['name']}, seed {run['seed']}"] = run[key]
        for file in FILES:
            self.results[file] = file_hash(self.folder / file)
        for pattern in MORE_FILES if whole else []:
            for path in sorted(self.folder.glob(pattern)) or [self.folder / pattern]:
                self.results[path.name] = content_hash(path)


def outcome(command):
    """Runs a command. Returns its exit code and what it said about errors."""
    if ended:
        raise Failed("interrupted")
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    try:
        process = subprocess.Popen(command, **pipes)
    except OSError as error:
        raise Failed(f"{command[0]} cannot be run: {error.strerror}") from None
    running.add(process)
    try:
        _, said = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise Failed(f"it was not over after {LIMIT} s, and was ended") from None
    finally:
        running.discard(process)
    return process.returncode, said.decode(errors="replace").strip()


def end_all():
    """Ends the programs that run, and lets no other start."""
    global ended
    ended = True
    for process in list(running):
        # A first polite signal would let it go on to its next aggregation.
        process.kill()


def file_hash(path):
    """SHA-256 of a file, or a word where there is none."""
    if not path.exists():
        return "no such file"
    known = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            known.update(part)
    return known.hexdigest()


def is_file(key):
    """Whether a result is the hash of a file."""
    return any(fnmatch.fnmatch(key, pattern) for pattern in FILES + MORE_FILES)


def content_hash(path):
    """SHA-256 of what a file says, without how fast the run was, and unpacked."""
    if path.name == "summary.json":
        summary = json.loads(path.read_text())
        for run in summary["variants"]:
            run.pop("throughput")
        return text_hash(json.dumps(summary))
    if path.suffix == ".gz" and path.exists():
        return hashlib.sha256(gzip.decompress(path.read_bytes())).hexdigest()
    return file_hash(path)


def text_hash(text):
    return hashlib.sha256(text.encode()).hexdigest()
