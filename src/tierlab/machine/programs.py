"""Programs on this machine: where they are, their versions, and the Debian package of each."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Servers lie in the sbin folders, which an ordinary user's PATH may lack."""
OWN_FOLDERS = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin")
"""Where Debian, and PostgreSQL's own packages for others, keep programs of which several versions
may be installed.
"""

VERSION_ARGUMENT = "--version"
"""By which most programs tell their versions."""
_NUMBER = re.compile(r"\d+")
_DOTTED = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True)
class Program:
    """A program: `path` and `version` are None when it is missing."""

    name: str
    package: str
    """The Debian package that brings it."""
    path: str | None
    version: str | None
    """What the program says of itself, in its first line that has a digit."""
    package_version: str | None
    """The version of the installed package, if it is that of a Debian machine."""

    @property
    def number(self) -> str | None:
        """The version alone, such as ``2.4.62``."""
        said = _DOTTED.search(self.version or "")
        return said[0] if said else None


def search_path() -> str:
    """Where programs are looked for: on PATH, then in the system's folders; of what is there in
    several versions, the newest first.
    """
    own = [str(each) for folders in OWN_FOLDERS for each in Path("/").glob(folders.lstrip("/"))]
    own.sort(key=lambda folder: [int(each) for each in _NUMBER.findall(folder)], reverse=True)
    return ":".join(filter(None, (os.environ.get("PATH"), SYSTEM_PATH, *own)))


def locate(name: str) -> str | None:
    """Find a program on PATH or in the system's folders."""
    return shutil.which(name, path=search_path())


def look_up(name: str, package: str, argument: str = VERSION_ARGUMENT) -> Program:
    """Find the program, by its name or its path, and ask it for its version by this argument."""
    path, own = locate(name), Path(name).name
    if path is None:
        return Program(own, package, None, None, None)
    return Program(own, package, path, _version(path, argument), _package_version(package))


def _version(path: str, argument: str) -> str | None:
    said = _said([path, argument])
    lines = (said or "").splitlines()
    return next((line.strip() for line in lines if any(c.isdigit() for c in line)), None)


def _package_version(package: str) -> str | None:
    dpkg = shutil.which("dpkg-query")
    if dpkg is None or not package:
        return None
    said = _said([dpkg, "--show", "--showformat=${db:Status-Status} ${Version}", package])
    status, _, version = (said or "").partition(" ")
    return version if status == "installed" else None


def _said(command: list[str]) -> str | None:
    """All that the command says within a few seconds, on either stream."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=10,
            check=False,
            env=os.environ | {"LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", errors="replace")
