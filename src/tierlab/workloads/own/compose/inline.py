"""Secrets and configs of a compose file as files of this host.

Source: Compose Specification, "Configs" and "Secrets". What stands in the compose file itself is
laid down in Tierlab's cache; what a variable has, where it is gone once this machine restarts.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tierlab.installation import cache
from tierlab.workloads.own.compose.places import FormError
from tierlab.workloads.own.compose.switches import switch

READABLE = 0o444
OWN_FOLDER = 0o700


@dataclass(frozen=True)
class Files:
    """The secrets and configs that a compose file has. `folder`: from which paths begin."""

    folder: Path
    document: Mapping[str, Any]
    variables: Mapping[str, str]

    def path(self, kind: str, source: str, mode: Any) -> Path:
        """Return the file that has a secret's or a config's content; `FormError` if there is none.
        `mode`: its rights, where a service says them.
        """
        known = (self.document.get(kind) or {}).get(source)
        if known is None:
            raise FormError(f'has "{source}", and the file has no such entry of {kind}')
        if switch(known.get("external")):
            raise FormError(
                f'has "{source}", which is external: Tierlab does not ask Docker for it; write it'
                f" to a file, and say file in {kind}.{source}"
            )
        if known.get("file") is not None:
            path = (self.folder / Path(str(known["file"])).expanduser()).resolve()
            if not path.exists():
                raise FormError(f'has "{source}", and there is no {path}')
            return path
        rights = _rights(mode)
        if known.get("content") is not None:
            return _kept(str(known["content"]), source, rights)
        if known.get("environment") is not None:
            return self._of_variable(kind, source, str(known["environment"]), rights)
        raise FormError(f'has "{source}", which says no file, content or environment')

    def _of_variable(self, kind: str, source: str, name: str, rights: int) -> Path:
        value = self.variables.get(name)
        if value is None:
            raise FormError(
                f'has "{source}", which takes the variable {name}, and that is not set; export it'
                " first"
            )
        if kind == "configs":
            return _kept(value, source, rights)
        folder = _until_restart() / hashlib.sha256(str(self.folder.resolve()).encode()).hexdigest()
        return _written(folder, f"{_plain(source)}-{rights:o}", value, rights)


def laid_down() -> tuple[Path, Path]:
    """Return the folders in which such files are: contents, and secrets."""
    return cache("compose"), _until_restart()


def _rights(mode: Any) -> int:
    """Return the rights of a file that is laid down: as a service says, or to be read by all."""
    if isinstance(mode, int) and not isinstance(mode, bool):
        return mode & 0o777
    text = str(mode or "").removeprefix("0o")
    return int(text, 8) & 0o777 if re.fullmatch(r"[0-7]{3,5}", text) else READABLE


def _kept(content: str, source: str, rights: int) -> Path:
    """Return the file in the cache that has a content; it is the same for the same content."""
    name = hashlib.sha256(f"{rights:o}\0{content}".encode()).hexdigest()
    return _written(cache("compose") / name, _plain(source), content, rights)


def _until_restart() -> Path:
    """Return a folder of this user's own in memory, or what is emptied when a machine starts."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return Path(runtime) / "tierlab" / "secrets"
    if os.geteuid() == 0:
        return Path("/run/tierlab/secrets")
    return Path(tempfile.gettempdir()) / f"tierlab-{os.geteuid()}" / "secrets"


def _plain(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.-]", "_", name).lstrip(".") or "file"


def _written(folder: Path, name: str, content: str, rights: int) -> Path:
    """Write a file as a whole, unless it has this content, in a folder that only its owner enters;
    those that are in a container see it by itself.
    """
    path = folder / name
    try:
        folder.mkdir(mode=OWN_FOLDER, parents=True, exist_ok=True)
        for each in (folder, folder.parent):
            if each.is_symlink() or each.stat().st_uid not in (0, os.geteuid()):
                raise FormError(f"needs the folder {each}, which is another user's; remove it")
        folder.chmod(OWN_FOLDER)
        if path.is_file() and path.read_text(encoding="utf-8") == content:
            return path
        handle, made = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as opened:
            opened.write(content)
        Path(made).chmod(rights)
        Path(made).replace(path)
    except (OSError, UnicodeError) as error:
        raise FormError(f"needs a file below {folder}, which cannot be written ({error})") from None
    return path
