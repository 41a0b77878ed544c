"""Files that have no place of their own on this host: a domain that uses one has it while it lives.

A compose file may have the content of a config in it, or take a secret from a variable. Such a file
is known here by the path that stands in a volume's place in the plan. Nothing is at that path: a
domain writes the content to a folder of the trial's, which is removed with the trial.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tierlab.errors import UserError

_NAMED = re.compile(r"(configs|secrets)\.(.+)\.[0-9a-f]+")


@dataclass(frozen=True)
class FileContent:
    """What is in a file, and the file's rights."""

    text: str = field(repr=False)
    rights: int
    is_secret: bool
    """Whether it is kept in memory, where this host has such a folder, rather than on a disk."""
    origin: str = ""
    """The variable that a secret comes from; empty if it is in the file."""


_KNOWN: dict[str, FileContent] = {}


def remember(folder: Path, kind: str, name: str, content: FileContent) -> Path:
    """Know a content from now on, in this process; return the path that stands for it.

    It is the same for the same config. A secret's path says nothing of its content. `folder`: where
    the compose file is.
    """
    shown = content.origin if content.is_secret else content.text
    mark = hashlib.sha256(f"{content.rights:o}\0{shown}".encode()).hexdigest()[:16]
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
    # A colon would end the path in a volume.
    place = Path(str(folder.resolve()).replace(":", "_"))
    path = place / f"{kind}.{plain}.{mark}"
    _KNOWN[str(path)] = content
    return path


def known(path: str) -> FileContent | None:
    """Return the content that a path stands for, if this process knows it."""
    return _KNOWN.get(path)


def missing(path: str) -> str:
    """Say of a path that it is not there, and what to do if it stood for a content."""
    found = _NAMED.fullmatch(Path(path).name)
    if found is None:
        return f"and there is no {path}"
    return (
        f"and there is no {path}, which stands for {found[1]}.{found[2]} of a compose file; use the"
        " experiment file that names the compose file"
    )


def write(content: FileContent, path: Path) -> Path:
    """Write a content to a new file; UserError if it cannot be written."""
    try:
        # Nobody may read it before it has its rights.
        with open(path, "x", encoding="utf-8", newline="", opener=_private) as file:
            file.write(content.text)
        path.chmod(content.rights)
    except (OSError, UnicodeError) as error:
        if not isinstance(error, FileExistsError):
            path.unlink(missing_ok=True)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(
            f"{path}: cannot write the content of a config or a secret ({reason}); make room there."
        ) from None
    return path


def memory_folder() -> Path:
    """Return the folder of this user's own in memory, or what is emptied when a machine starts."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and Path(runtime).is_dir():
        return Path(runtime)
    return Path("/run") if os.geteuid() == 0 else Path(tempfile.gettempdir())


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
