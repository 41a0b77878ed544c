"""Secrets and configs of a compose file as files.

Source: Compose Specification, "Configs" and "Secrets". What stands in the compose file itself, or
in a variable, is a file only while a trial uses it: see `tierlab.environments.contents`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tierlab.environments.contents import FileContent, remember
from tierlab.workloads.own.compose.places import FormError
from tierlab.workloads.own.compose.switches import switch

READABLE = 0o444


@dataclass(frozen=True)
class Files:
    """The secrets and configs that a compose file has. `folder`: from which paths begin."""

    folder: Path
    document: Mapping[str, Any]
    variables: Mapping[str, str]

    def path(self, kind: str, source: str, mode: Any) -> Path:
        """Return the file of a secret or a config, or the path that stands for its content;
        `FormError` if there is none. `mode`: its rights, where a service says them.
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
            content = FileContent(str(known["content"]), rights, kind == "secrets")
            return remember(self.folder, kind, source, content)
        if known.get("environment") is not None:
            name = str(known["environment"])
            value = self._variable(source, name)
            content = FileContent(value, rights, kind == "secrets", origin=name)
            return remember(self.folder, kind, source, content)
        raise FormError(f'has "{source}", which says no file, content or environment')

    def _variable(self, source: str, name: str) -> str:
        value = self.variables.get(name)
        if value is None:
            raise FormError(
                f'has "{source}", which takes the variable {name}, and that is not set; export it'
                " first"
            )
        return value


def _rights(mode: Any) -> int:
    """Return the rights of such a file: as a service says, or to be read by all."""
    if isinstance(mode, int) and not isinstance(mode, bool):
        return mode & 0o777
    text = str(mode or "").removeprefix("0o")
    return int(text, 8) & 0o777 if re.fullmatch(r"[0-7]{3,5}", text) else READABLE
