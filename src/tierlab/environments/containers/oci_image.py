"""OCI images on this machine: those that podman has, archives and folders of them.

Sources: podman-image-inspect(1), containers-transports(5), and the OCI image format specification.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import tarfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tierlab.environments.containers.probe import locate
from tierlab.environments.launching import last_words
from tierlab.errors import UserError

SECONDS = 30.0
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
"""By what this machine calls them, where images call them otherwise."""


@dataclass(frozen=True)
class OciImage:
    """An image as it is found."""

    id: str
    config: Mapping[str, Any]
    """What it says of its programs, as the image format has it: Entrypoint, Cmd, Env, and so on."""
    archive: str | None = None
    """Where podman has to load it from; None for one that it has."""

    def words(self, key: str) -> tuple[str, ...]:
        """A list of the configuration's; empty where it has none."""
        return tuple(self.config.get(key) or ())

    @property
    def ports(self) -> tuple[int, ...]:
        """The TCP ports that it says it listens on."""
        said = (each.partition("/") for each in self.config.get("ExposedPorts") or ())
        return tuple(sorted(int(port) for port, _, kind in said if kind in ("", "tcp")))


@cache
def find_image(name: str) -> OciImage:
    """Look an image up by its name, or by the path of an archive or a folder; `UserError` where
    there is none: how a sentence about it goes on.
    """
    path = Path(name)
    if path.is_absolute():
        return _archived(path)
    return _in_storage(name)


@dataclass(frozen=True)
class Stores:
    """Where the images are that this user's podman has, and the driver that they were stored by."""

    driver: str
    folders: tuple[str, ...]


@cache
def find_stores() -> Stores:
    """Ask podman; `UserError` where it does not say."""
    said = json.loads(_podman("info", "--format", "{{json .Store}}"))
    more = said.get("graphOptions", {}).get("overlay.imagestore")
    folders = [said["graphRoot"], *([more] if isinstance(more, str) else [])]
    return Stores(said["graphDriverName"], tuple(each for each in folders if Path(each).exists()))


def _in_storage(name: str) -> OciImage:
    if not name or name.startswith("-"):
        raise UserError(f'names "{name}", which is no name of an image')
    (said,) = json.loads(_podman("image", "inspect", name))
    config = dict(said.get("Config") or {})
    if "HealthCheck" in said or "Healthcheck" in said:
        config.setdefault("Healthcheck", said.get("HealthCheck") or said.get("Healthcheck"))
    return OciImage(said["Id"], config)


def _podman(*arguments: str) -> str:
    program = locate("podman")
    if program is None:
        raise UserError("needs podman, which is not installed; apt-get install podman")
    try:
        done = subprocess.run(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"cannot be looked up, for podman does not answer ({error})") from error
    if done.returncode == 0:
        return done.stdout
    if arguments[:2] == ("image", "inspect") and os.geteuid() == 0:
        name = arguments[-1]
        raise UserError(
            f'names "{name}", an image that podman does not have for root on this machine; get it'
            f" first: podman pull {_full(name)}, or of Docker's own images: docker save {name} |"
            " podman load"
        )
    raise UserError(f"cannot be looked up ({last_words(done.stderr)})")


def _full(name: str) -> str:
    """The name with its registry, without which podman takes none unless it is set up to."""
    first, slash, _ = name.partition("/")
    if slash and ("." in first or ":" in first or first == "localhost"):
        return name
    return f"docker.io/{name}" if slash else f"docker.io/library/{name}"


def _archived(path: Path) -> OciImage:
    try:
        if path.is_dir():
            return _layout(f"oci:{path}", lambda name: (path / name).read_bytes())
        with tarfile.open(path) as archive:
            names = {name.removeprefix("./"): name for name in archive.getnames()}

            def read(name: str) -> bytes:
                file = archive.extractfile(names[name])
                if file is None:
                    raise KeyError(name)
                return file.read()

            if "index.json" in names:
                return _layout(f"oci-archive:{path}", read)
            (image, *_) = json.loads(read("manifest.json"))
            config = json.loads(read(image["Config"]))
            found = Path(image["Config"]).name.removesuffix(".json")
            return OciImage(found, config.get("config") or {}, f"docker-archive:{path}")
    except (OSError, KeyError, ValueError, tarfile.TarError) as error:
        raise UserError(
            f"names {path}, which is no archive or folder of an OCI image; make one:"
            " podman save --format oci-archive"
        ) from error


def _layout(archive: str, read: Callable[[str], bytes]) -> OciImage:
    """The first image of an OCI image layout that is for this machine.

    An index may list indexes: `docker save` writes such, and buildx for each image its provenance.
    """
    manifest = json.loads(read("index.json"))
    while "manifests" in manifest:
        manifest = json.loads(read(_blob(_fitting(manifest["manifests"])["digest"])))
    digest = manifest["config"]["digest"]
    config = json.loads(read(_blob(digest))).get("config") or {}
    return OciImage(digest.rpartition(":")[2], config, archive)


def _fitting(listed: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The first of an index's entries that runs here; where none does, the first image of all."""
    machine = platform.machine()
    here = {"architecture": ARCHITECTURES.get(machine, machine), "os": "linux"}
    images = [(here | (each.get("platform") or {}), each) for each in listed]
    # Provenance is listed as an image for an unknown machine.
    images = [(its, each) for its, each in images if its["architecture"] != "unknown"]
    fits = [(its, each) for its, each in images if all(its[key] == here[key] for key in here)]
    ((_, first), *_) = fits or images
    return first


def _blob(digest: str) -> str:
    kind, _, value = digest.partition(":")
    return f"blobs/{kind}/{value}"
