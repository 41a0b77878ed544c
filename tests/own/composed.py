"""Compose files that tests write, and what becomes of them where podman has some images."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tierlab.environments.containers.oci_image import OciImage
from tierlab.errors import UserError
from tierlab.workloads.own.compose import service
from tierlab.workloads.own.compose.expand import Expanded, expanded

IMAGES: Mapping[str, Mapping[str, Any]] = {
    "shop": {
        "Entrypoint": ["/entry"],
        "Cmd": ["serve"],
        "ExposedPorts": {"3000/tcp": {}},
        "WorkingDir": "/app",
        "Env": ["PATH=/usr/bin", "LANG=C"],
    },
    "plain": {"Cmd": ["run"], "ExposedPorts": {"3000/tcp": {}}},
    "postgres": {"Cmd": ["postgres"], "ExposedPorts": {"5432/tcp": {}}},
    "redis": {"Cmd": ["redis-server"], "ExposedPorts": {"6379/tcp": {}}},
}
WEB = "services:\n  web:\n    image: shop\n    ports: ['80:3000']\n"


def have_images(monkeypatch: pytest.MonkeyPatch, **more: Mapping[str, Any]) -> None:
    """Have podman know the images, and others by name."""
    known = {**IMAGES, **more}

    def find(name: str) -> OciImage:
        if name not in known:
            raise UserError(f'names "{name}", an image that podman does not have')
        return OciImage("0" * 64, known[name])

    monkeypatch.setattr(service, "find_image", find)


def read(file: Path, **system: Any) -> Expanded:
    """Read a compose file that is there."""
    return expanded({"workload": "own", "compose": str(file), **system})


def of(place: Path, text: str, **system: Any) -> Expanded:
    """Write a compose file and read it."""
    file = place / "compose.yaml"
    file.write_text(text)
    return read(file, **system)


def refused(place: Path, text: str, **system: Any) -> str:
    """Return the sentences about a compose file that is refused, without the file's name."""
    with pytest.raises(UserError) as raised:
        of(place, text, **system)
    return str(raised.value).removeprefix(f"{place}/compose.yaml: ")
