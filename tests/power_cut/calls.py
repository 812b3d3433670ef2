"""The calls of a program that change a disk, as strace saw them."""

import pathlib
import re
import subprocess

CALLS = (
    "openat,open,creat,lseek,write,writev,pwrite64,ftruncate,fallocate,fsync,fdatasync,rename,renameat,renameat2,"
    "unlink,unlinkat,rmdir,mkdir,mkdirat,copy_file_range,sendfile,link,linkat,symlink,symlinkat"
)
LINE = re.compile(r"(\d+) +(.*)")
FINISHED = re.compile(r"(\w+)\((.*)\) += (-?\d+)")
RESUMED = re.compile(r"<\.\.\. \w+ resumed>(.*)")
STRING = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')
OPEN_FILE = re.compile(r"(?:(\d+)|AT_FDCWD)<(.*?)>(?=[,)]|$)")


class Unknown(Exception):
    """A call that changes files in a way the disk does not know."""


def trace(command, log, **options):
    """Runs a command under strace. Returns its exit code."""
    watched = ["strace", "-f", "-y", "-xx", "-s", str(1 << 26), "-e", f"trace={CALLS}", "-o", log, *command]
    return subprocess.run(watched, **options).returncode


def calls(log):
    """(call, arguments, result) of every call that did something, in the order in which they ended."""
    begun = {}
    for line in pathlib.Path(log).read_text(errors="replace").splitlines():
        process, text = LINE.match(line).groups()
        if text.endswith("<unfinished ...>"):
            begun[process] = text.removesuffix("<unfinished ...>").rstrip()
            continue
        if resumed := RESUMED.match(text):
            text = begun.pop(process) + resumed[1]
        if (found := FINISHED.match(text)) and int(found[3]) >= 0:
            yield found[1], found[2], int(found[3])


def strings(arguments):
    """The strings among the arguments, whole."""
    found = STRING.findall(arguments)
    if any(cut for _, cut in found):
        raise Unknown("strace did not show all of a string")
    return [bytes.fromhex(text.replace("\\x", "")) for text, _ in found]


def open_file(text):
    """Number and path of an open file, as strace shows it: some versions write the path in hexadecimal, too."""
    number, path = OPEN_FILE.match(text).groups()
    path = bytes.fromhex(path.replace("\\x", "")).decode() if path.startswith("\\x") else path
    return int(number or -1), path


class Replay:
    """Does with a disk what a program did."""

    def __init__(self, disk, disk_module):
        self.disk, self.kinds = disk, disk_module
        # Where the next byte goes, by number of the open file; None: at the end.
        self.places = {}

    def paths(self, arguments):
        """Absolute paths: each string, in the folder that stands before it."""
        folder = ""
        for part in re.findall(r'(?:\d+|AT_FDCWD)<[^>]*>|"[^"]*"', arguments):
            if part[0] == '"':
                (text,) = strings(part)
                path = text.decode()
                yield path if path.startswith("/") else f"{folder}/{path}"
            else:
                _, folder = open_file(part)

    def do(self, call, arguments, result):
        """Does one call. Returns what was synced, a path, if that is what it does."""
        disk = self.disk
        if call in ("openat", "open", "creat"):
            (path,) = self.paths(arguments)
            self.places[result] = None if "O_APPEND" in arguments else 0
            if disk.holds(path) and ("O_CREAT" in arguments or call == "creat") and disk.find(path) is None:
                disk.put(path, self.kinds.File())
            if disk.holds(path) and "O_TRUNC" in arguments:
                disk.find(path).now.clear()
        elif call in ("mkdir", "mkdirat"):
            (path,) = self.paths(arguments)
            if disk.holds(path):
                disk.put(path, self.kinds.Folder())
        elif call in ("rename", "renameat", "renameat2"):
            old, new = self.paths(arguments)
            if disk.holds(old) or disk.holds(new):
                other = disk.remove(new) if "RENAME_EXCHANGE" in arguments else None
                disk.put(new, disk.remove(old))
                if other is not None:
                    disk.put(old, other)
        elif call in ("unlink", "unlinkat", "rmdir"):
            (path,) = self.paths(arguments)
            if disk.holds(path):
                disk.remove(path)
        else:
            return self.do_open_file(call, arguments, result)
        return None

    def do_open_file(self, call, arguments, result):
        number, path = open_file(arguments)
        if not self.disk.holds(path) or path.endswith("(deleted)"):
            return None
        what = self.disk.find(path)
        if call in ("fsync", "fdatasync"):
            return path
        if call == "lseek":
            if self.places.get(number) is not None:
                self.places[number] = result
        elif call == "write":
            (data,) = strings(arguments)
            at = self.places.get(number, 0)
            at = len(what.now) if at is None else at
            what.now[at : at + result] = data[:result]
            if self.places.get(number) is not None:
                self.places[number] = at + result
        elif call == "ftruncate":
            length = int(arguments.rsplit(",", 1)[1])
            del what.now[length:]
            what.now.extend(bytes(length - len(what.now)))
        else:
            raise Unknown(f"{call} of {path}")
        return None
