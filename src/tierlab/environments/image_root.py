"""The root of a domain whose programs come in an OCI image, and what is laid over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mode = Literal["kept", "ro", "rw"]
"""What a domain may do to a folder of the user's: write what goes with the trial ("kept" as it
is), only read, or write there."""


@dataclass(frozen=True)
class Volume:
    """Something at a place of the root that is not the image's."""

    source: str
    """A path on this host; or the name of a volume that is empty at first and goes with the trial;
    empty for one in memory."""
    target: str
    mode: Mode = "kept"

    @property
    def is_named(self) -> bool:
        """Whether it is the trial's own."""
        return bool(self.source) and not self.source.startswith("/")


@dataclass(frozen=True)
class ImageRoot:
    """An image and how its programs run; None leaves a thing to the image."""

    image: str
    """Its id."""
    archive: str | None = None
    """Where it is to be had from, if podman does not have it: a transport and a path."""
    user: str | None = None
    folder: str | None = None
    """Its working folder."""
    volumes: tuple[Volume, ...] = ()
    own_loopback: bool = False
    """Whether what it binds to all addresses, or to 127.0.0.1, is to be at its own address."""
