"""A disk whose power may be cut: what of the calls that a program made is on it for certain.

A file's content is on the disk as it was when the file was synced last. Names in a folder (files that were created,
renamed or removed) are on the disk as they were when the folder was synced last, or sooner: the system may write
them at any time. So there are two worst cases, and a program has to cope with both:

  "late names"    names are on the disk only once their folder was synced
  "early names"   names are on the disk at once, contents only once they were synced
"""

NAMES = ("late names", "early names")


class File:
    def __init__(self):
        self.now = bytearray()
        self.kept = b""

    def sync(self):
        self.kept = bytes(self.now)


class Folder:
    def __init__(self):
        self.now = {}
        self.kept = {}

    def sync(self):
        self.kept = dict(self.now)


class Disk:
    """The tree below `root`, an absolute path that has been there all along."""

    def __init__(self, root):
        self.root = root.rstrip("/")
        self.top = Folder()

    def holds(self, path):
        return path == self.root or path.startswith(self.root + "/")

    def parts(self, path):
        return [part for part in path[len(self.root) :].split("/") if part]

    def find(self, path):
        """The file or folder at a path, or None."""
        at = self.top
        for part in self.parts(path):
            at = at.now.get(part) if isinstance(at, Folder) else None
        return at

    def put(self, path, what):
        *folder, name = self.parts(path)
        self.find("/".join([self.root, *folder])).now[name] = what

    def remove(self, path):
        *folder, name = self.parts(path)
        return self.find("/".join([self.root, *folder])).now.pop(name)

    def is_kept(self, path):
        """Whether the names that lead to a path are on the disk for certain."""
        at = self.top
        for part in self.parts(path):
            at = at.kept.get(part)
            if at is None:
                return False
        return True

    def after_a_cut(self, names):
        """The files that are there when the power is back: contents by path, folders with None."""
        found = {}

        def walk(folder, path):
            entries = folder.kept if names == "late names" else folder.now
            for name in sorted(entries):
                entry, below = entries[name], f"{path}/{name}" if path else name
                if isinstance(entry, Folder):
                    found[below] = None
                    walk(entry, below)
                else:
                    found[below] = entry.kept

        walk(self.top, "")
        return found
