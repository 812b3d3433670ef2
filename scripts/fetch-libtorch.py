"""Fetches the CPU parts of libtorch from PyPI into the folder given: `scripts/libtorch` calls it.
If that fails, the reason goes to stdout.

PyPI's torch for Linux is made for CUDA, and two of CUDA's small libraries are linked even by its CPU
part. So three wheels are fetched, pinned by their sums, and of each only what a CPU needs is kept.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile

VERSION = "2.13.0"

# Each wheel: what pip is asked for, its sum, its size in bytes, and the libraries to keep.
WHEELS = [
    (
        "torch==2.13.0",
        "796633c4cdf0fe2cdced72d8f88f22e73dbcfce83132763162f6d4bff13b820b",
        526605292,
        ["torch/lib/libtorch_cpu.so", "torch/lib/libc10.so", "torch/lib/libgomp.so.1"],
    ),
    (
        "nvidia-cuda-cupti==13.0.85",
        "4eb01c08e859bf924d222250d2e8f8b8ff6d3db4721288cf35d14252a4d933c8",
        10715597,
        ["nvidia/cu13/lib/libcupti.so.13"],
    ),
    (
        "nvidia-cuda-runtime==13.0.96",
        "7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548",
        2243632,
        ["nvidia/cu13/lib/libcudart.so.13"],
    ),
]
HEADERS = "torch/include/"
# Names that programs link to. The libtorch.so of the wheel would ask for CUDA; with a CPU alone all
# it stands for is in libtorch_cpu.so. libgomp.so is missing where the compiler is not gcc.
LINKS = {"libtorch.so": "libtorch_cpu.so", "libgomp.so": "libgomp.so.1"}
# Which of the wheels of that name: the same one for every Python, so that it has one sum.
PYTHON = ["--implementation=cp", "--python-version=3.12", "--abi=cp312"]
PLATFORMS = ["manylinux_2_28", "manylinux_2_25", "manylinux_2_17", "manylinux2014"]

KEPT = 510e6  # bytes on disk, with 9,448 files


class Failure(Exception):
    """Something that people can do something about."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def megabytes(count):
    return f"{count / 1e6:,.0f} MB"


def contents(folder):
    """How much a folder holds, in the words of `scripts/libtorch`."""
    sizes = [
        os.lstat(os.path.join(parent, name)).st_size
        for part in ("lib", "include")
        for parent, _, names in os.walk(os.path.join(folder, part))
        for name in names
        if not os.path.islink(os.path.join(parent, name))
    ]
    return f"{len(sizes)} files, {sum(sizes)} bytes"


def whole(folder):
    try:
        with open(os.path.join(folder, "contents")) as file:
            return file.read().strip() == contents(folder)
    except OSError:
        return False


@contextlib.contextmanager
def alone(parent):
    """Holds a lock, so that of two who want to fetch one waits and finds it done. Says whether it
    holds it: some network file systems have no locks, and there both fetch."""
    with open(os.path.join(parent, "lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            locked = True
        except BlockingIOError:
            say("Somebody else is fetching libtorch: waiting for them.")
            fcntl.flock(lock, fcntl.LOCK_EX)
            locked = True
        except OSError:
            locked = False
        yield locked


def download(folder):
    """Fetches the wheels, which pip compares with their sums; their paths, in the same order."""
    wanted = os.path.join(folder, "requirements.txt")
    with open(wanted, "w") as file:
        for name, digest, _, _ in WHEELS:
            file.write(f"{name} --hash=sha256:{digest}\n")
    command = [sys.executable, "-m", "pip", "download", "--require-hashes", "--no-deps"]
    command += ["--only-binary=:all:", "--no-cache-dir", "--disable-pip-version-check", *PYTHON]
    command += [f"--platform={platform}_x86_64" for platform in PLATFORMS]
    command += ["--dest", folder, "--requirement", wanted]
    environment = dict(os.environ, PIP_REQUIRE_VIRTUALENV="0")
    # Where progress can be seen: its bar, or a line for each wheel in a log.
    if subprocess.call(command, env=environment, stdout=sys.stderr) != 0:
        raise Failure("pip could not, and said why above. Is there a network?")
    found = os.listdir(folder)
    return [
        os.path.join(folder, wheel)
        for name, _, _, _ in WHEELS
        for wheel in found
        if wheel.startswith(name.replace("-", "_").replace("==", "-") + "-")
    ]


def unpack(wheel, libraries, to):
    """Keeps the libraries and headers of a wheel. Reading them checks their sums once more."""
    with zipfile.ZipFile(wheel) as archive:
        members = {name: f"lib/{os.path.basename(name)}" for name in libraries}
        for name in archive.namelist():
            if name.startswith(HEADERS) and not name.endswith("/"):
                members[name] = "include/" + name[len(HEADERS) :]
        for name, target in members.items():
            target = os.path.join(to, target)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with archive.open(name) as source, open(target, "wb") as file:
                shutil.copyfileobj(source, file, 1 << 20)
    os.remove(wheel)


def check(folder):
    """What was unpacked is of the right version, and loads from where it is."""
    major, minor, patch = VERSION.split(".")
    with open(os.path.join(folder, "include/torch/headeronly/version.h")) as file:
        header = file.read()
    for part, number in [("MAJOR", major), ("MINOR", minor), ("PATCH", patch)]:
        if f"#define TORCH_VERSION_{part} {number}\n" not in header:
            raise Failure(f"its headers are not of version {VERSION}")
    load = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    environment = {key: value for key, value in os.environ.items() if key != "LD_LIBRARY_PATH"}
    loaded = subprocess.run(
        [sys.executable, "-c", load, os.path.join(folder, "lib/libtorch_cpu.so")],
        env=environment,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    if loaded.returncode != 0:
        reason = (loaded.stderr.strip().splitlines() or ["it crashed"])[-1]
        raise Failure(f"its libraries do not load on this system: {reason}")


def fetch(cache):
    parent = os.path.dirname(cache)
    os.makedirs(parent, exist_ok=True)
    with alone(parent) as locked:
        if whole(cache):
            return
        # What a fetch left that was killed.
        for name in os.listdir(parent) if locked else []:
            if name.startswith("fetching-"):
                shutil.rmtree(os.path.join(parent, name), ignore_errors=True)

        arriving = sum(size for _, _, size, _ in WHEELS)
        needed = arriving + KEPT
        free = shutil.disk_usage(parent).free
        say(
            f"Fetching libtorch {VERSION} for the CPU from PyPI into {cache}:\n"
            f"{megabytes(arriving)} to download, {megabytes(KEPT)} on disk afterwards"
            f" ({megabytes(needed)} meanwhile)."
        )
        if free < needed:
            raise Failure(
                f"{parent} has room for {megabytes(free)} only. Make room there, or set"
                " XDG_CACHE_HOME to a folder elsewhere."
            )
        fetching = tempfile.mkdtemp(prefix="fetching-", dir=parent)
        try:
            new = os.path.join(fetching, "libtorch")
            wheels = download(fetching)
            say("Unpacking and checking it.")
            for wheel, (_, _, _, libraries) in zip(wheels, WHEELS):
                unpack(wheel, libraries, new)
            for name, target in LINKS.items():
                os.symlink(target, os.path.join(new, "lib", name))
            check(new)
            # torch-sys looks into the one, `scripts/libtorch` into the other.
            for name, text in [("build-version", VERSION), ("contents", contents(new))]:
                with open(os.path.join(new, name), "w") as file:
                    file.write(text + "\n")
            if not whole(cache):
                if os.path.lexists(cache):
                    os.rename(cache, os.path.join(fetching, "broken"))
                os.rename(new, cache)
        finally:
            shutil.rmtree(fetching, ignore_errors=True)
    say(f"libtorch {VERSION} is in {cache}.")


def stop(*_):
    raise KeyboardInterrupt


def main():
    # Being ended cleans up as being interrupted does.
    signal.signal(signal.SIGTERM, stop)
    try:
        fetch(sys.argv[1])
    except (Failure, OSError, zipfile.BadZipFile) as failure:
        print(failure)
        sys.exit(1)
    except KeyboardInterrupt:
        print("it was stopped")
        sys.exit(130)


if __name__ == "__main__":
    main()
