"""The archive of the classes that a Java application loads as it starts: class data sharing.

A Java machine maps it (``-XX:SharedArchiveFile``) instead of reading, checking and linking each
class anew, which is about a third of the CPU time of a start. What runs after is the same, compiled
by the same rules. It is made by a rehearsal: a start in a domain of its own that is stopped again
(``-XX:ArchiveClassesAtExit``). The machine compares its version, the class path and the files'
times with the archive's, and starts without one that does not fit.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tierlab.environments.domain import Domain
from tierlab.errors import UserError
from tierlab.servers.base import CONSOLE, NotReadyError, Server, Site
from tierlab.servers.made_once import Sort, cache_folder, made_once
from tierlab.servers.programs import find_program

FOLDER, ARCHIVE = "classes", "app.jsa"
"""Where a rehearsal leaves the archive in its domain's folder, and the file's name anywhere."""
CLASSES = Sort("classes", "archive of classes", 64 << 20)
MACHINE = ("lib/server/libjvm.so", "lib/modules", "lib/server/classes.jsa")
"""What an archive builds upon of the Java machine's; the last is its own classes' archive."""
POLL_SECONDS = 0.02
_FAILED: set[Path] = set()
"""Those that could not be made: each trial of a sweep would wait for them anew, and all are alike
without."""


def class_archive(
    site: Site, kind: str, jars: Sequence[Path], rehearse: Callable[[Domain], Path]
) -> Path | None:
    """Return the cached archive of the application in `jars`, made if it is not there.

    None where there can be none: the server starts without. So it does in a kernel of its own,
    whose Java machine is not this host's. One that failed is not tried again by this process.
    """
    home = Path(find_program("java")).resolve().parents[1]
    machine = [home / name for name in MACHINE]
    if site.domain.inside() is not None or not all(path.exists() for path in machine):
        return None
    folder = cache_folder(kind) / _key(machine, jars, [each.protocol for each in site.upstreams])
    if folder in _FAILED:
        return None
    try:
        return made_once(site.environment, CLASSES, folder, rehearse) / ARCHIVE
    except (UserError, OSError):  # what keeps the server itself from starting is told as it starts
        _FAILED.add(folder)
        return None


def _key(machine: Sequence[Path], jars: Sequence[Path], called: Sequence[str]) -> str:
    """Name all that an archive depends on: files by size and time, as the Java machine does; jars
    by content too, since a build may give all the same time; the protocols whose drivers it has.
    """
    found = hashlib.sha256(" ".join(called).encode())
    for path in (*machine, *jars):
        about = path.stat()
        found.update(f"{path} {about.st_size} {about.st_mtime_ns}\n".encode())
    for path in jars:
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def rehearsed(server: Server) -> Path:
    """Start a server, stop it once it answers, and return the folder with the archive it leaves.

    Raises `UserError` if it leaves none.
    """
    site = server.site
    name, *arguments = server.command()
    process = site.domain.spawn([find_program(name), *arguments], log=CONSOLE)
    deadline = time.monotonic() + site.patience(server.start_seconds)
    while not _answers(server):
        if process.poll() is not None or time.monotonic() > deadline:
            break
        time.sleep(POLL_SECONDS)
    # One that was killed may have left half an archive, which a Java machine does not survive.
    gently = process.stop(site.patience(server.stop_seconds))
    if not gently or not site.domain.has(f"{FOLDER}/{ARCHIVE}"):
        raise UserError(f"{name} left no whole archive of its classes.")
    return site.domain.folder / FOLDER


def _answers(server: Server) -> bool:
    try:
        server.greet()
    except (OSError, NotReadyError):
        return False
    return True
