"""What a program needs in a container of an image, whose own root may have nothing but itself.

A program enters the container's namespaces from outside, and gives up its rights inside: by this
host's setpriv(1), copied with the libraries that it needs, and mounted at a folder of its own.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from tierlab.environments.containers.probe import locate
from tierlab.environments.files import open_folder
from tierlab.errors import UserError

INSIDE = "/.tierlab"
INIT = "catatonit"
SETPRIV = "setpriv"
LOADER = "loader"
LIBRARIES = "lib"
SECONDS = 10.0
_FILE = re.compile(r"(?:(\S+) => )?(/\S+) \(0x")
"""A line of ldd(1): a library and where it lies, or the loader."""


def lay_down(folder: Path) -> None:
    """Copy what is needed to a new folder; `UserError` where it is not to be had."""
    open_folder(folder / LIBRARIES)
    for name in (INIT, SETPRIV):
        shutil.copy(_found(name), folder / name)
    libraries = _libraries(_found(SETPRIV))
    if not any(library is None for library, _ in libraries):
        raise UserError(
            f"the program '{SETPRIV}' of this host has no loader that ldd(1) names, so it cannot be"
            " brought into a container; install util-linux of a distribution with glibc."
        )
    for library, path in libraries:
        shutil.copy(path, folder / LOADER if library is None else folder / LIBRARIES / library)


def setpriv() -> list[str]:
    """The command that is setpriv(1) inside."""
    return [
        *(f"{INSIDE}/{LOADER}", "--library-path", f"{INSIDE}/{LIBRARIES}"),
        f"{INSIDE}/{SETPRIV}",
    ]


def _found(program: str) -> str:
    path = locate(program)
    if path is None:
        raise UserError(f"the program '{program}' is missing; 'tierlab doctor' says which package.")
    return path


def _libraries(program: str) -> list[tuple[str | None, str]]:
    """Each by the name that it is looked for, the loader by None."""
    done = subprocess.run(
        ["ldd", program], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    return [(found[1], found[2]) for found in _FILE.finditer(done.stdout)]
