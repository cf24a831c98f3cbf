# SPDX-License-Identifier: MIT
"""The first file system of tools/vm, as a cpio archive.

Files have the same paths as on this machine, including the symbolic links in
these paths and the shared libraries of ELF files, so that a path that works
here works there. Needs no root. Equal contents give equal bytes, whose hash is
the archive's name in the cache.
"""
import hashlib
import os
import re
import stat
import subprocess

KEPT = 6


class Tree:
    def __init__(self):
        self.entries = {}  # path without leading slash -> (mode, bytes, device)
        self.seen = set()

    def folder(self, path):
        parts = path.strip("/").split("/")
        for n in range(1, len(parts) + 1):
            self.entries.setdefault("/".join(parts[:n]), (stat.S_IFDIR | 0o755, b"", (0, 0)))

    def put(self, path, data, mode=0o755):
        self.folder(os.path.dirname(path))
        self.entries[path.strip("/")] = (stat.S_IFREG | mode, data, (0, 0))

    def link(self, path, target):
        self.folder(os.path.dirname(path))
        self.entries.setdefault(path.strip("/"), (stat.S_IFLNK | 0o777, target.encode(), (0, 0)))

    def device(self, path, major, minor):
        self.folder(os.path.dirname(path))
        self.entries[path.strip("/")] = (stat.S_IFCHR | 0o600, b"", (major, minor))

    def resolve(self, path):
        """Adds the symbolic links in path; returns the path with all links resolved."""
        at = "/"
        parts = [p for p in path.split("/") if p]
        for n, part in enumerate(parts):
            at = os.path.join(at, part)
            if os.path.islink(at):
                target = os.readlink(at)
                self.link(at, target)
                behind = os.path.join(os.path.dirname(at), target, *parts[n + 1:])
                return self.resolve(os.path.normpath(behind))
        return at

    def add(self, path):
        """Adds a file with the libraries it needs, or a folder with its contents."""
        real = self.resolve(os.path.abspath(path))
        if real in self.seen:
            return
        self.seen.add(real)
        if os.path.isdir(real):
            self.folder(real)
            for name in sorted(os.listdir(real)):
                self.add(os.path.join(real, name))
        elif os.path.isfile(real):
            with open(real, "rb") as file:
                data = file.read()
            self.put(real, data, stat.S_IMODE(os.stat(real).st_mode))
            if data.startswith(b"\x7fELF"):
                self.add_libraries(real, data)

    def add_libraries(self, path, data):
        """Those the loader maps; of a program built here also those it loads later, which it names."""
        listed = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
        libraries = re.findall(r"(?:=>\s+|^\s*)(/\S+) \(0x", listed, re.M)
        if not path.startswith(("/usr/", "/lib")):
            named = {n.decode() for n in re.findall(rb"\0(lib[\w+-]+\.so\.\d+)(?=\0)", data)}
            folders = {os.path.dirname(library) for library in libraries}
            libraries += [os.path.join(f, n) for f in sorted(folders) for n in sorted(named)]
        for library in libraries:
            if os.path.exists(library):
                self.add(library)

    def archive(self):
        out = []
        for number, path in enumerate(sorted(self.entries), 1):
            mode, data, device = self.entries[path]
            out.append(record(path, number, mode, data, device))
        out.append(record("TRAILER!!!", 0, 0, b"", (0, 0)))
        return b"".join(out)


def record(path, number, mode, data, device):
    """One member in the format "newc": thirteen numbers in hex, the name, the bytes; both padded to 4."""
    name = path.encode() + b"\0"
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name), 0)
    head = b"070701" + b"".join(b"%08x" % f for f in fields) + name
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def cached(tree, cache):
    """Returns the archive's path in the cache, written if its contents are new."""
    data = tree.archive()
    path = cache / f"initramfs-{hashlib.sha256(data).hexdigest()[:16]}.cpio"
    if path.exists():
        os.utime(path)
        return path
    half = path.with_suffix(f".{os.getpid()}")
    half.write_bytes(data)
    half.rename(path)
    old = sorted(cache.glob("initramfs-*.cpio"), key=os.path.getmtime)[:-KEPT]
    for other in old:
        other.unlink(missing_ok=True)
    return path
