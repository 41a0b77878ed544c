"""Ports and volumes of a service, in their short and long forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tierlab.workloads.own.compose.switches import switch

LABELS = frozenset({"z", "Z", "cached", "delegated", "consistent", "nocopy", "rprivate", "private"})
"""Modes of a volume that say nothing of what may be written."""


HEEDED = frozenset({"type", "source", "target", "read_only"})
"""Keys of a volume in its long form."""


class FormError(Exception):
    """How the sentence about an entry goes on."""


def ports_of(entries: Any) -> Iterator[int]:
    """The TCP ports in the container, in the file's order; `FormError` for what is none."""
    for entry in entries if isinstance(entries, list) else [entries]:
        if isinstance(entry, dict):
            if str(entry.get("protocol") or "tcp").lower() == "tcp":
                yield _port(entry.get("target"), entry)
            continue
        text, _, protocol = str(entry).partition("/")
        if protocol.lower() in ("", "tcp"):
            yield _port(text.rpartition(":")[2].partition("-")[0], entry)


def published_ports(entries: Any) -> Iterator[int]:
    """The TCP ports of this host at which a service's ports are published, as far as they are said
    one by one.
    """
    for entry in entries if isinstance(entries, list) else [entries]:
        if isinstance(entry, dict):
            host, protocol = str(entry.get("published") or ""), str(entry.get("protocol") or "")
        else:
            text, _, protocol = str(entry).partition("/")
            host = text.rpartition(":")[0].rpartition(":")[2]
        if protocol.lower() in ("", "tcp") and re.fullmatch(r"\d{1,5}", host):
            yield int(host)


def _port(value: Any, entry: Any) -> int:
    if not re.fullmatch(r"\d{1,5}", str(value)) or not 0 < int(value) < 65_536:
        raise FormError(f"has {entry!r}, which says no port of the container's")
    return int(value)


@dataclass(frozen=True)
class Volumes:
    """How the volumes of a file's services are read: paths from its folder; `named` are its own."""

    folder: Path
    named: Mapping[str, Any]

    def entry(self, said: Any, anonymous: str) -> str:
        """A service's volume, as a table of a server's has it; `anonymous` is the name of one that
        has none. `FormError` for what cannot be had.
        """
        source, target, mode = self._long(said) if isinstance(said, dict) else _short(str(said))
        if not target.startswith("/"):
            raise FormError(f"has {said!r}, which names no place in the container")
        if source == "tmpfs":
            return f"tmpfs:{target}"
        if source.startswith((".", "/", "~")):
            path = (self.folder / Path(source).expanduser()).resolve()
            if not path.exists():
                raise FormError(f"has {said!r}, and there is no {path}")
            return ":".join([str(path), target, *([mode] if mode else [])])
        if source:
            if source not in self.named:
                raise FormError(f'has {said!r}, and the file has no volume "{source}"')
            bound = self._bound(said, source)
            if bound is not None:
                return f"{bound}:{target}"
        return f"{source or anonymous}:{target}"

    def _bound(self, said: Any, name: str) -> Path | None:
        """Return the folder that a volume of the file is, by its driver's options; None if it is
        the trial's own. `FormError` if it is neither.
        """
        known = self.named[name] or {}
        if switch(known.get("external")):
            raise FormError(
                f"has {said!r}, which is external: a trial sees no volume of yours; bind a folder"
            )
        driver, options = known.get("driver") or "local", known.get("driver_opts")
        options = options if isinstance(options, dict) else {}
        if driver != "local":
            raise FormError(f'has {said!r}, which asks for the driver "{driver}"; bind a folder')
        if not options or options.get("type") == "tmpfs":
            return None
        if "bind" not in str(options.get("o", "")).split(","):
            raise FormError(
                f"has {said!r}, which is mounted by the options of its driver"
                f" ({', '.join(f'{key}={value}' for key, value in options.items())}); bind a folder"
            )
        path = (self.folder / Path(str(options.get("device", ""))).expanduser()).resolve()
        if not path.exists():
            raise FormError(f"has {said!r}, and there is no {path}")
        return path

    def _long(self, said: Mapping[str, Any]) -> tuple[str, str, str]:
        kind, target = said.get("type", "volume"), str(said.get("target", ""))
        mode = {True: "ro", False: "rw", None: ""}.get(switch(said.get("read_only")), "")
        if kind == "tmpfs":
            return "tmpfs", target, ""
        source = str(said.get("source") or "")
        if kind == "bind":
            is_path = source.startswith((".", "/", "~"))
            return (source if is_path else f"./{source}"), target, mode
        if kind == "volume":
            more = said.get("volume")
            if isinstance(more, dict) and more.get("subpath"):
                raise FormError(f"has {said!r}, a part of a volume; name the whole one")
            return source, target, ""
        raise FormError(f'has one of type "{kind}"; there are bind, volume and tmpfs')


def idle_keys(said: Any) -> str:
    """Return the keys of a volume in its long form that are not heeded, as one text."""
    keys = said if isinstance(said, dict) else ()
    return ", ".join(str(each) for each in keys if each not in HEEDED)


def _short(text: str) -> tuple[str, str, str]:
    parts = text.split(":")
    if len(parts) == 1:
        return "", parts[0], ""
    source, target, *rest = parts
    words = {word for each in rest for word in each.split(",")} - LABELS
    return source, target, next((mode for mode in ("ro", "rw") if mode in words), "")
