# SPDX-License-Identifier: MIT
"""The kernel of tools/vm: Debian's package, downloaded and never installed.

Kept in one folder: `vmlinux` (or the compressed image, when it cannot be
unpacked), `release`, and in `modules` those that the machine's init loads,
numbered in the order of their dependencies.
"""
import fcntl
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tarfile

META_PACKAGE = "linux-image-amd64"
# 9p over virtio transfers files, overlay is needed for --host, and loop only by tests of modules.
MODULES = ("virtio", "virtio_ring", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci",
           "9pnet", "9pnet_virtio", "netfs", "fscache", "9p", "overlay")
TEST_MODULES = ("loop",)


class Unavailable(Exception):
    """The kernel is not available; the sentence has the reason and the cure."""


def run(*args, **kwargs):
    return subprocess.run(args, capture_output=True, text=True, check=False, **kwargs)


def package_name():
    found = re.search(r"Depends: (linux-image-\S+)", run("apt-cache", "depends", META_PACKAGE).stdout)
    if not found:
        raise Unavailable(f"apt has no package {META_PACKAGE}; run 'apt-get update' (Debian only)")
    return found.group(1)


def download(folder):
    """Downloads the package's file to folder, returns its path."""
    name = package_name()
    command = ["apt-get", "download", "-q"]
    if os.geteuid() == 0:
        # Needed when apt's own user has no access to the folder.
        command += ["-o", "APT::Sandbox::User=root"]
    done = run(*command, name, cwd=folder)
    files = list(folder.glob(f"{name}_*.deb"))
    if done.returncode or not files:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Unavailable(f"cannot download {name}: {reason}")
    return files[0]


def unpacked_image(image):
    """The ELF kernel inside a bzImage: it boots without unpacking itself under emulation."""
    start = (image[0x1f1] + 1) * 512 + struct.unpack_from("<I", image, 0x248)[0]
    payload = image[start:start + struct.unpack_from("<I", image, 0x24c)[0]]
    if not payload.startswith(b"\xfd7zXZ\0"):
        return image
    return lzma.LZMADecompressor().decompress(payload)


def needs(module):
    found = re.search(rb"\0depends=([^\0]*)\0", module)
    return [n.replace("-", "_") for n in found.group(1).decode().split(",") if n] if found else []


def in_load_order(modules):
    ordered = []

    def visit(name):
        if name in ordered:
            return
        if name not in modules:
            raise Unavailable(f"the kernel package has no module {name}")
        for other in needs(modules[name]):
            visit(other)
        ordered.append(name)

    for name in MODULES:
        visit(name)
    return ordered


def read_package(package):
    """Returns (release, packed image, {module name: bytes})."""
    release, image, modules = None, None, {}
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as source:
        with tarfile.open(fileobj=source.stdout, mode="r|") as tar:
            for member in tar:
                path = pathlib.PurePosixPath(member.name)
                module = path.stem.replace("-", "_") if path.suffix == ".ko" else None
                if path.name.startswith("vmlinuz-"):
                    release = path.name[len("vmlinuz-"):]
                    image = tar.extractfile(member).read()
                elif module in MODULES + TEST_MODULES:
                    modules[module] = tar.extractfile(member).read()
    if image is None:
        raise Unavailable(f"{package} holds no kernel")
    return release, image, modules


def unpack(package, folder):
    release, image, modules = read_package(package)
    (folder / "modules").mkdir(parents=True)
    for number, name in enumerate(in_load_order(modules)):
        (folder / "modules" / f"{number:02}-{name}.ko").write_bytes(modules[name])
    for name in TEST_MODULES:
        if name in modules:
            (folder / f"{name}.ko").write_bytes(modules[name])
    (folder / "vmlinux").write_bytes(unpacked_image(image))
    (folder / "release").write_text(release + "\n")


def obtain(cache):
    """Returns the folder with the kernel; downloads it the first time."""
    folder = cache / "kernel"
    with open(cache / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "release").exists():
            package = download(cache)
            half = cache / "kernel.new"
            shutil.rmtree(half, ignore_errors=True)
            unpack(package, half)
            shutil.rmtree(folder, ignore_errors=True)
            half.rename(folder)
            package.unlink()
    return folder
