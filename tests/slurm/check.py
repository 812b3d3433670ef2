#!/usr/bin/env python3
"""Runs the job scripts of scripts/slurm on a Slurm of this machine and compares what they leave with runs of one process.

Usage: tests/slurm/check.py PROGRAM [--without-mpi]
       tests/slurm/check.py --page

With --page, which needs no Slurm, it only compares the scripts with those that docs/cluster.md shows.
PROGRAM is a gruppetto that was built with the feature mpi; --without-mpi leaves out what needs that. An array with its
merge; jobs that are requeued, preempted, cancelled and near their time limit; ranks that srun and mpirun start on two
pretended nodes. Files must be the same to the byte, but for how fast the run was. scripts/local-slurm starts and stops
the Slurm; it needs root and Debian's slurm-wlm and munge, and openmpi-bin for ranks. Takes minutes: the shortest time limit is one.
Exit codes: 0 all passed, 1 something failed, 2 bad usage.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

# The folder with the modules is source, and stays as it is.
sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / name) for name in ("torture", "oracle")]

import kills  # noqa: E402

# A job that takes longer hangs.
LIMIT = 300
SCRIPTS = ROOT / "scripts/slurm"
SMALL = ["--cpus-per-task=1", "--mem=500M"]
TWO_NODES = ["--nodes=2", "--ntasks-per-node=2", "--gpus-per-node=1", *SMALL]

SCENARIO = """
name = "NAME"
stop.rounds = ROUNDS
record.clients = "off"
task = { kind = "synthetic", clients = 30 }
client = { lr = 0.02, work = { until = "deadline" } }
server.close.deadline = "2s"
[[fleet.class]]
name = "phones"
step_time = { lognormal = { median = "STEP", sigma = 0.8 } }
uplink = "10Mbps"
"""
SWEEP = """
[sweep]
client.lr = [0.01, 0.02]
client.prox = [0.0, 0.1]
"""


class Failed(Exception):
    """What is wrong."""


def main():
    options = arguments()
    wrong = page()
    print("".join(f"docs/cluster.md: {name} is not shown as it is\n" for name in wrong), end="")
    if wrong or options.page:
        return 1 if wrong else 0
    missing = what_is_missing(options)
    if missing:
        print("error: the Slurm of tests needs what is missing here:\n  " + "\n  ".join(missing), file=sys.stderr)
        print("as root: apt-get install slurm-wlm munge openmpi-bin; SLURM=0 leaves it out", file=sys.stderr)
        return 1
    # Told to end, it stops the Slurm as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="slurm-") as folder:
        folder = pathlib.Path(folder)
        # munged asks for that.
        folder.chmod(0o755)
        os.environ.update(
            LOCAL_SLURM=str(folder / "slurm"),
            PATH=f"{folder / 'bin'}:{os.environ['PATH']}",
            NODES="2",
            CPUS="4",
            GPUS="1",
            # Ranks need not have cores of their own, and tests may be root.
            OMPI_ALLOW_RUN_AS_ROOT="1",
            OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        )
        (folder / "bin").mkdir()
        (folder / "bin/gruppetto").symlink_to(options.program)
        os.chdir(folder)
        try:
            started = call(ROOT / "scripts/local-slurm", "start")
            os.environ["SLURM_CONF"] = started.removeprefix("export SLURM_CONF=").strip()
            tests = [array, requeued, preempted, cancelled, time_limit]
            tests += [] if options.without_mpi else [srun, srun_ended, mpirun, mpirun_ended]
            wrong = sum(not passes(test) for test in tests)
        finally:
            subprocess.run([ROOT / "scripts/local-slurm", "stop"], check=False)
        left_over = daemons()
        if left_over:
            print(f"the Slurm left processes: {left_over}")
            wrong += 1
    print(f"{len(tests) + 1 - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


def page():
    """The scripts that docs/cluster.md does not show word for word, and those that it shows and that are not there."""
    text = (ROOT / "docs/cluster.md").read_text()
    shown = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
    scripts = {path.name: path.read_text() for path in sorted(SCRIPTS.iterdir())}
    differ = [name for name, script in scripts.items() if script not in shown]
    return differ or [script.splitlines()[1] for script in shown if script not in scripts.values()]


def passes(test):
    try:
        test()
    except (Failed, subprocess.SubprocessError) as error:
        print(f"{test.__name__.replace('_', ' ')}: {error}", flush=True)
        for job in call("squeue", "-h", "-o", "%A").split():
            call("scancel", job)
        return False
    return True


def array():
    """Three parts and their merge, which waits for them; a part that is sent in again is over at once."""
    scenario("swept", 150, more=SWEEP)
    whole = alone("swept")
    job = submit("array.sh", "swept.toml", "--array=1-3", *SMALL)
    merge = submit("merge.sh", "runs/swept", f"--dependency=afterok:{job}", "--mem=500M")
    expect(finished(merge), "COMPLETED", merge)
    same(whole, "runs/swept")
    os.environ["PARTS"] = "3"
    again = submit("array.sh", "swept.toml", "--array=2", *SMALL)
    del os.environ["PARTS"]
    expect(finished(again), "COMPLETED", again)
    parts = sorted(path.name for path in pathlib.Path("runs/swept.parts").iterdir())
    if parts != ["1-of-3", "2-of-3", "3-of-3"]:
        raise Failed(f"parts: {parts}")


def requeued():
    whole, job = half_way("requeued", "preemptible.sh", SMALL)
    call("scontrol", "requeue", job)
    goes_on(job, whole)


def preempted():
    """A job of another partition, with precedence, needs the node."""
    # Slurm takes some seconds to decide that.
    whole, job = half_way("preempted", "preemptible.sh", [*SMALL, "--nodelist=node1"], 8000)
    pathlib.Path("urgent.sh").write_text("#!/bin/sh\nsleep 1\n")
    urgent = submit(pathlib.Path("urgent.sh").resolve(), "", "--partition=urgent", "--exclusive", "--nodelist=node1")
    expect(finished(urgent), "COMPLETED", urgent)
    goes_on(job, whole)


def cancelled():
    """It is not queued again, and goes on when it is sent in again."""
    whole, job = half_way("cancelled", "preemptible.sh", SMALL)
    call("scancel", job)
    expect(finished(job), "CANCELLED", job)
    job = submit("preemptible.sh", "cancelled.toml", *SMALL)
    expect(finished(job), "COMPLETED", job)
    same(whole, "runs/cancelled")
    went_on("runs/cancelled")


def time_limit():
    """Slurm looks every half minute, and its shortest limit is a minute: so long a run is needed."""
    began = time.monotonic()
    scenario("pace", 100, step="6ms")
    alone("pace")
    rounds = int(75 / (time.monotonic() - began) * 100)
    scenario("limited", rounds, step="6ms")
    # Both at the same time.
    reference = subprocess.Popen(one_process("limited"), stdout=subprocess.DEVNULL)
    try:
        job = submit("preemptible.sh", "limited.toml", *SMALL, "--time=1", "--signal=B:USR1@5")
        state = finished(job)
        reference.wait(timeout=LIMIT)
    finally:
        reference.kill()
    expect(state, "COMPLETED", job)
    if restarts(job) == 0:
        raise Failed("the limit was not near before the run was over")
    same("limited", "runs/limited")
    went_on("runs/limited")


def srun():
    ranks("srun", "mpi-srun.sh")


def mpirun():
    ranks("mpirun", "mpi-mpirun.sh")


def srun_ended():
    """As Slurm does it near the time limit: the ranks hear SIGTERM, and the script queues the job again."""
    os.environ["RANKS"] = "3"
    whole, job = half_way("srun-ended", "mpi-srun.sh", TWO_NODES)
    call("scancel", "--signal=TERM", job)
    goes_on(job, whole)


def mpirun_ended():
    """Ranks are killed. The run goes on from a checkpoint that was taken before, with another number of ranks."""
    os.environ.update(RANKS="3", GRUPPETTO_CHECKPOINT_EVENTS="200")
    whole, job = half_way("mpirun-ended", "mpi-mpirun.sh", TWO_NODES)
    os.environ.pop("GRUPPETTO_CHECKPOINT_EVENTS")
    call("scancel", "--batch", "--signal=USR1", job)
    goes_on(job, whole)


def ranks(name, script):
    scenario(name, 150)
    whole = alone(name)
    for count in "2", "4":
        os.environ["RANKS"] = count
        job = submit(script, f"{name}.toml", *TWO_NODES)
        expect(finished(job), "COMPLETED", job)
        same(whole, f"runs/{name}")
        shutil.rmtree(f"runs/{name}")


def half_way(name, script, more, rounds=1500):
    """A job in the middle of a run, and what one process leaves of it."""
    scenario(name, rounds)
    whole = alone(name)
    job = submit(script, f"{name}.toml", *more)
    rows = pathlib.Path(f"runs/{name}/rounds.csv")
    wait_for(lambda: rows.exists() and rows.read_bytes().count(b"\n") > 200, job)
    return whole, job


def goes_on(job, whole):
    expect(finished(job), "COMPLETED", job)
    if restarts(job) != 1:
        raise Failed(f"it was queued again {restarts(job)} times\n{said(job)}")
    same(whole, f"runs/{whole}")
    went_on(f"runs/{whole}")


def scenario(name, rounds, step="60ms", more=""):
    text = SCENARIO.replace("NAME", name).replace("ROUNDS", str(rounds)).replace("STEP", step)
    pathlib.Path(f"{name}.toml").write_text(text + more)


def one_process(name):
    return ["gruppetto", "--quiet", "run", f"{name}.toml", "--threads", "1", "--jobs", "1", "--out", name]


def alone(name):
    """The folder that one process leaves."""
    call(*one_process(name))
    return name


def submit(script, argument, *options):
    """The number of a job that will say what it has to say in NUMBER.out."""
    words = [*options, "--output=%A.out", SCRIPTS / script, *([argument] if argument else [])]
    return call("sbatch", "--parsable", *words).strip()


def job_says(job):
    """What Slurm says of a job, or of the first task of an array."""
    text = call("scontrol", "--oneliner", "show", "job", job).splitlines()[0]
    return dict(re.findall(r"(\w+)=(\S+)", text))


def restarts(job):
    return int(job_says(job)["Restarts"])


def finished(job):
    """The state of a job when it is over."""
    wait_for(lambda: not call("squeue", "-h", "-j", job).strip(), job)
    return job_says(job)["JobState"]


def wait_for(condition, job):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"job {job} hangs\n{call('squeue')}{said(job)}")
        time.sleep(0.1)


def said(job):
    path = pathlib.Path(f"{job}.out")
    return path.read_text(errors="replace")[-3000:] if path.exists() else "it said nothing"


def expect(state, wanted, job):
    if state != wanted:
        raise Failed(f"job {job} is {state}, not {wanted}\n{said(job)}")


def same(one, other):
    one, other = kills.left(pathlib.Path(one)), kills.left(pathlib.Path(other))
    if one.keys() != other.keys():
        raise Failed(f"files: {sorted(one.keys() ^ other.keys())}")
    differ = [name for name in sorted(one) if one[name] != other[name]]
    if differ:
        raise Failed(f"files differ: {differ}")


def went_on(folder):
    if kills.went_on(pathlib.Path(folder)) == 0:
        raise Failed("it did not go on from a checkpoint, but began anew")


def daemons():
    """Processes of a Slurm that are still there."""
    names = ["slurmctld", "slurmd", "slurmstepd", "munged"]
    listed = subprocess.run(["ps", "-o", "pid=,args=", "-C", ",".join(names)], capture_output=True, text=True)
    own = [line for line in listed.stdout.splitlines() if "munged" not in line or os.environ["LOCAL_SLURM"] in line]
    return "\n".join(own)


def what_is_missing(options):
    places = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    needed = {"slurmctld": "slurm-wlm", "slurmd": "slurm-wlm", "sbatch": "slurm-wlm", "munged": "munge"}
    if not options.without_mpi:
        needed["mpirun"] = "openmpi-bin"
    missing = [f"{name}, of {package}" for name, package in needed.items() if not shutil.which(name, path=places)]
    return missing + ([] if os.geteuid() == 0 else ["root, who alone can start it"])


def call(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=LIMIT)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, words))}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def arguments():
    shape = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=shape, usage=argparse.SUPPRESS)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--without-mpi", action="store_true")
    options = parser.parse_args()
    if not options.page and not options.program:
        parser.error("a program is missing")
    options.program = str(pathlib.Path(options.program or ".").resolve())
    return options


if __name__ == "__main__":
    sys.exit(main())
