"""MPI jobs on this machine."""

import os
import pathlib
import signal
import subprocess
import uuid

# A job that takes longer hangs.
LIMIT = 600
MARK = "GRUPPETTO_MPI_TEST"


def mpirun():
    """More ranks than cores, on cores of nobody in particular."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun", *root, "--oversubscribe", "--bind-to", "none"]


def alone(program, path, out):
    return [program, "--quiet", "run", path, "--threads", "1", "--out", out]


def command(program, path, out, workers, more=()):
    return [*mpirun(), "-n", str(workers + 1), program, "--quiet", "run", path, "--out", out, *more]


def run(program, path, out, workers, more=()):
    """Exit code, and what was said."""
    return finish(command(program, path, out, workers, more))


def finish(words, environment=None):
    done = subprocess.run(words, capture_output=True, timeout=LIMIT, env=environment)
    return done.returncode, done.stderr.decode(errors="replace")


class Job:
    """A job whose ranks can be sent signals."""

    def __init__(self, program, path, out, workers, environment):
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            command(program, path, out, workers),
            env=dict(os.environ, **environment, **{MARK: self.mark}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def pid(self, rank):
        """The process of a rank, if it is there."""
        wanted = {f"{MARK}={self.mark}".encode(), f"OMPI_COMM_WORLD_RANK={rank}".encode()}
        for folder in pathlib.Path("/proc").iterdir():
            if not folder.name.isdigit():
                continue
            try:
                environment = set((folder / "environ").read_bytes().split(b"\0"))
            except OSError:
                continue
            if wanted <= environment:
                return int(folder.name)
        return None

    def signal(self, rank, name):
        """Whether the rank was there to be sent a signal."""
        pid = self.pid(rank)
        if pid is None:
            return False
        try:
            os.kill(pid, getattr(signal, f"SIG{name}"))
        except ProcessLookupError:
            return False
        return True

    def kill(self, rank):
        return self.signal(rank, "KILL")

    def wait(self):
        try:
            return self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "none: it hangs"
