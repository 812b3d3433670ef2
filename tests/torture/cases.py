"""Runs broken inputs through the program, and judges what it does.

A case is a folder of files and commands that are run in it, one after the other while they succeed. The program
may accept or refuse: its exit code is 0, 1, 2 or 3. What it must not do: end by a signal, panic, refuse without
a word, take more than 10 s of processor time or 2 GB of memory, or wait for ever. Where a scenario may ask for a
lot of work, a run is interrupted after some seconds as a user does it, by Ctrl-C twice, and must then end.

Cases have numbers, and every number makes the same case of the same seed. Those that fail are kept in a folder,
each with the command that repeats it.
"""

import collections
import multiprocessing
import os
import pathlib
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Seconds of processor time, and bytes of memory.
MOST_TIME, MOST_MEMORY = 10, 2 << 30
# Bytes that a program may reserve, far beyond what it may use: the machine outlives every case.
GUARD = 8 << 30
# Seconds after which a program hangs.
LIMIT = 60
GOOD_CODES, INTERRUPTED = (0, 1, 2, 3), 130

# `files` are contents by name, `links` targets by name, `commands` lists of arguments.
Case = collections.namedtuple("Case", "kind files links commands environment", defaults=({},))
# Why a case failed, or None; the exit codes; seconds and bytes of the most expensive command.
Verdict = collections.namedtuple("Verdict", "number kind problem codes seconds memory was_long")


class Torture:
    """Makes cases of a function from a number to a `Case`, and runs them on all cores. After `patience` seconds,
    if given, a run is asked to end."""

    def __init__(self, program, make, jobs=None, patience=None):
        self.program, self.make = str(pathlib.Path(program).resolve()), make
        self.patience = patience
        self.jobs = jobs or os.cpu_count() or 1
        self.kept = None

    def run(self, numbers):
        """Runs cases and prints what came of them. Returns how many failed."""
        began, failed, all_kinds = time.monotonic(), [], collections.defaultdict(list)
        os.nice(10)
        # In memory, where there is such a folder: runs wait for the disk at every file they finish.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        with tempfile.TemporaryDirectory(prefix="torture-", dir=memory) as folder:
            context = multiprocessing.get_context("fork")
            with context.Pool(self.jobs, begin_worker, (self, folder)) as pool:
                for done, verdict in enumerate(pool.imap_unordered(one_case, numbers, 8), start=1):
                    all_kinds[verdict.kind].append(verdict)
                    if verdict.problem:
                        failed.append(verdict)
                        self.keep(verdict)
                    if done % 1000 == 0:
                        print(f"{done} of {len(numbers)} cases, {len(failed)} failed", file=sys.stderr, flush=True)
        self.tell(all_kinds, time.monotonic() - began)
        print(f"{len(numbers) - len(failed)} passed, {len(failed)} failed")
        if failed:
            print(f"cases that failed, with the commands that repeat them: {self.kept}")
        return len(failed)

    def tell(self, all_kinds, seconds):
        print(f"{'':28} cases  accepted  long  slowest   memory")
        for kind, verdicts in sorted(all_kinds.items()):
            accepted = sum(it.codes[0] in (0, 3) for it in verdicts)
            long = sum(it.was_long for it in verdicts)
            slowest = max(it.seconds for it in verdicts)
            memory = max(it.memory for it in verdicts) >> 20
            print(f"{kind:28} {len(verdicts):5}  {accepted:8}  {long:4}  {slowest:5.1f} s  {memory:4} MB")
        long = sorted(it.number for verdicts in all_kinds.values() for it in verdicts if it.was_long)
        if long:
            print(f"asked to end, and ended: {', '.join(map(str, long))}")
        print(f"{sum(map(len, all_kinds.values()))} cases in {seconds:.0f} s")

    def keep(self, verdict):
        """Writes a case that failed where it stays."""
        self.kept = self.kept or pathlib.Path(tempfile.mkdtemp(prefix="gruppetto-torture-"))
        folder = self.kept / str(verdict.number)
        case = self.make(verdict.number)
        write(case, folder)
        lines = [f"{key}={value}" for key, value in case.environment.items()]
        lines = [shlex.join(["env", *lines, self.program, *command]) for command in case.commands]
        text = "\n".join([f"cd {shlex.quote(str(folder))}", *lines, f"# {verdict.problem}"])
        (folder / "repeat.sh").write_text(text + "\n")
        print(f"case {verdict.number} ({verdict.kind}): {verdict.problem}", flush=True)


def begin_worker(torture, folder):
    global current, scratch
    current = torture
    scratch = pathlib.Path(tempfile.mkdtemp(dir=folder))
    # Ctrl-C is for the process that started this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def one_case(number):
    case = current.make(number)
    folder = scratch / "case"
    write(case, folder)
    codes, problem, most_seconds, most_memory, was_long = [], None, 0, 0, False
    for command in case.commands:
        code, said, seconds, memory, long = outcome(command, folder, case.environment)
        codes.append(code)
        most_seconds, most_memory = max(most_seconds, seconds), max(most_memory, memory)
        was_long |= long
        problem = judged(code, said, seconds, memory, long)
        if problem:
            problem = f"{' '.join(command)}: {problem}"
        if problem or code not in (0, 3):
            break
    shutil.rmtree(folder, ignore_errors=True)
    return Verdict(number, case.kind, problem, codes, most_seconds, most_memory, was_long)


def write(case, folder):
    folder.mkdir(parents=True)
    for name, content in case.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for name, target in case.links.items():
        (folder / name).symlink_to(target)


def outcome(command, folder, environment):
    """Runs a command: its exit code, what it said, its seconds and bytes, and whether it was asked to end."""
    said = folder.parent / "said"
    with said.open("wb") as told:
        process = subprocess.Popen(
            [current.program, *command],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=told,
            stderr=told,
            preexec_fn=begin_program,
        )
    is_patient = current.patience is None or "run" not in command
    alarms = [] if is_patient else [signal.SIGINT, signal.SIGINT]
    asked = []

    def alarm(*_):
        asked.append(alarms.pop(0) if alarms else signal.SIGKILL)
        os.kill(process.pid, asked[-1])
        signal.alarm(1 if alarms else LIMIT)

    signal.signal(signal.SIGALRM, alarm)
    signal.alarm(LIMIT if is_patient else current.patience)
    _, status, used = os.wait4(process.pid, 0)
    signal.alarm(0)
    process.returncode = os.waitstatus_to_exitcode(status)
    text = said.read_bytes().decode(errors="replace")
    scale = 1 if sys.platform == "darwin" else 1024
    return process.returncode, text, used.ru_utime + used.ru_stime, used.ru_maxrss * scale, bool(asked)


def begin_program():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_TIME, MOST_TIME + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (GUARD, GUARD))


def judged(code, said, seconds, memory, was_long):
    """What is wrong with an outcome, or None."""
    if "panicked" in said or code == 101:
        return "it panicked: " + next((line for line in said.splitlines() if "panicked" in line), "")
    if code < 0:
        name = signal.Signals(-code).name
        return f"more than {MOST_TIME} s of processor time" if name == "SIGXCPU" else f"ended by {name}"
    if code not in GOOD_CODES and not (was_long and code == INTERRUPTED):
        return f"exit code {code}"
    if code in (1, 2) and not said.strip():
        return f"exit code {code} without a word"
    if seconds > MOST_TIME:
        return f"{seconds:.1f} s of processor time"
    if memory > MOST_MEMORY:
        return f"{memory / (1 << 30):.1f} GB of memory"
    return None
