"""One service of a compose file as the table of a server."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tierlab.environments.containers.oci_image import OciImage, find_image
from tierlab.errors import UserError
from tierlab.servers.image_options import NO_HEALTH
from tierlab.servers.own_options import USUAL_PORTS
from tierlab.workloads.own.compose.findings import Findings
from tierlab.workloads.own.compose.keys import REFUSED, look_at_keys
from tierlab.workloads.own.compose.places import FormError, Volumes, ports_of
from tierlab.workloads.own.compose.replaced import calls_nobody, spoken, takes_place
from tierlab.workloads.own.compose.switches import switch
from tierlab.workloads.own.compose.variables import from_file

SHELL = ("/bin/sh", "-c")
OURS = {"user": "run_as", "working_dir": "workdir", "stop_signal": "stop_signal"}
"""Keys that are taken as they stand, and what an experiment file calls them."""
UNIT = {"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20}
UNIT |= {"g": 1 << 30, "gb": 1 << 30}


@dataclass
class Service:
    """A service: its name in the file, its server's in the system, and that one's table."""

    name: str
    tier: str
    table: dict[str, Any] = field(default_factory=dict)
    after: tuple[str, ...] = ()
    """The services that it depends on."""
    published: bool = False
    aliases: dict[str, str] = field(default_factory=dict)
    """Names by which it calls others, each with the service."""


@dataclass(frozen=True)
class Reader:
    """What reads the services of one file. `given`: tables that the experiment file has, which are
    asked before a service is.
    """

    folder: Path
    document: Mapping[str, Any]
    findings: Findings
    variables: Mapping[str, str]
    given: Mapping[str, Mapping[str, Any]]

    def service(self, name: str, tier: str, said: Mapping[str, Any]) -> Service:
        """Read one; what is wrong with it is in the findings."""
        key, own = f"services.{name}", self.given.get(tier, {})
        made = Service(name, tier)
        if takes_place(own):
            made.table |= spoken(own)
            made.published = bool(said.get("ports"))
        else:
            self._described(key, said, made)
        if not calls_nobody(own):
            self._commands(said, made)
            self._environment(key, said, made)
            made.after = tuple(self._dependencies(key, said, made))
        names = [name, said.get("container_name"), said.get("hostname")]
        networks = said.get("networks")
        if isinstance(networks, dict):
            names += [
                alias for each in networks.values() for alias in (each or {}).get("aliases", ())
            ]
        others = [
            each for each in dict.fromkeys(str(name) for name in names if name) if each != tier
        ]
        if others:
            made.table["names"] = others
        return made

    def _described(self, key: str, said: Mapping[str, Any], made: Service) -> None:
        look_at_keys(key, said, self.findings, made.tier, self.given)
        found = self._image(key, made.name, said, made)
        self._ports(key, said, made, found)
        self._volumes(key, made.name, said, made)
        self._health(key, said, made)
        self._limits(key, made.tier, said, made)
        for theirs, ours in OURS.items():
            if said.get(theirs) is not None:
                made.table[ours] = str(said[theirs])

    def _image(
        self, key: str, name: str, said: Mapping[str, Any], made: Service
    ) -> OciImage | None:
        image, build = said.get("image"), said.get("build")
        own = self.given.get(made.tier, {}).get("image")
        if own is not None:
            image = own
        if not isinstance(image, str):
            if build is None:
                self.findings.wrong(key, "has no image")
            else:
                self._unbuilt(key, build, f"localhost/{self.folder.resolve().name}-{name}".lower())
            return None
        made.table["image"] = image
        try:
            found = find_image(image)
        except UserError as error:
            if build is not None and own is None:
                self._unbuilt(key, build, image)
            else:
                self.findings.wrong(f"{key}.image", str(error))
            return None
        if build is not None:
            self.findings.note(f"{key}: {image} is as it was built last (build is not run)")
        return found

    def _unbuilt(self, key: str, build: Any, tag: str) -> None:
        context = build.get("context", ".") if isinstance(build, dict) else build
        file = build.get("dockerfile") if isinstance(build, dict) else None
        where = (self.folder / str(context)).resolve()
        words = [
            "podman",
            "build",
            "-t",
            tag,
            *(["-f", str(where / file)] if file else []),
            str(where),
        ]
        self.findings.wrong(
            f"{key}.build",
            f"is not run by Tierlab; build it first ({shlex.join(words)}), and say image: {tag}",
        )

    def _commands(self, said: Mapping[str, Any], made: Service) -> None:
        for name in ("command", "entrypoint"):
            value = said.get(name)
            if isinstance(value, list):
                made.table[name] = shlex.join(map(_written, value))
            elif value is not None:
                made.table[name] = str(value)

    def _environment(self, key: str, said: Mapping[str, Any], made: Service) -> None:
        found: dict[str, str] = {}
        files = said.get("env_file") or []
        for each in files if isinstance(files, list) else [files]:
            path = self.folder / str(each.get("path") if isinstance(each, dict) else each)
            if not path.is_file():
                if not (isinstance(each, dict) and switch(each.get("required")) is False):
                    self.findings.wrong(
                        f"{key}.env_file", f"names {path}, and there is no such file"
                    )
                continue
            try:
                known = {**found, **self.variables}
                found |= from_file(path, known, self.findings, f"{key}.env_file")
            except UserError as error:
                self.findings.wrong(f"{key}.env_file", f"names {str(error).rstrip('.')}")
        stated = said.get("environment") or {}
        pairs = stated.items() if isinstance(stated, dict) else map(_pair, stated)
        for name, value in pairs:
            if value is None and name in self.variables:
                found[str(name)] = self.variables[str(name)]
            elif value is not None:
                found[str(name)] = _written(value)
        for name, value in found.items():
            if re.fullmatch(r"\$[A-Za-z_]\w*", value):
                self.findings.wrong(
                    f"{key}.environment.{name}",
                    f'is "{value}", which to Tierlab is the variable of that name where it runs',
                )
        if found:
            made.table["environment"] = found

    def _ports(
        self, key: str, said: Mapping[str, Any], made: Service, image: OciImage | None
    ) -> None:
        ports: dict[str, list[int]] = {}
        for each in ("ports", "expose"):
            try:
                ports[each] = list(ports_of(said.get(each) or []))
            except FormError as error:
                self.findings.wrong(f"{key}.{each}", str(error))
                return
        made.published = bool(ports["ports"])
        if "port" in self.given.get(made.tier, {}):
            return
        offered = ports["ports"] or ports["expose"] or list(image.ports if image else ())
        if not offered:
            if image is not None:
                self.findings.wrong(
                    key, f"says no port, nor does its image; say port in [system.{made.tier}]"
                )
            return
        known = [each for each in offered if each in USUAL_PORTS]
        made.table["port"] = (known if not ports["ports"] and known else offered)[0]
        if len(set(offered)) > 1:
            said_port = made.table["port"]
            self.findings.note(f"{key}: of its ports, {said_port} is the one that is called")

    def _volumes(self, key: str, name: str, said: Mapping[str, Any], made: Service) -> None:
        volumes = Volumes(self.folder, self.document.get("volumes") or {})
        found = []
        for at, each in enumerate(said.get("volumes") or ()):
            try:
                found.append(volumes.entry(each, f"{name}-{at}"))
            except FormError as error:
                self.findings.wrong(f"{key}.volumes", str(error))
        memory = said.get("tmpfs") or []
        for each in memory if isinstance(memory, list) else [memory]:
            found.append(f"tmpfs:{str(each).partition(':')[0]}")
        found += self._files(key, said, "secrets", "/run/secrets/{}")
        found += self._files(key, said, "configs", "/{}")
        if found:
            made.table["volumes"] = found

    def _files(self, key: str, said: Mapping[str, Any], kind: str, usual: str) -> Iterator[str]:
        """Secrets and configs that are files."""
        for each in said.get(kind) or ():
            source = str(each.get("source") if isinstance(each, dict) else each)
            target = each.get("target") if isinstance(each, dict) else None
            place = str(target) if str(target).startswith("/") else usual.format(target or source)
            file = ((self.document.get(kind) or {}).get(source) or {}).get("file")
            path = (self.folder / str(file)).resolve()
            if file is None or not path.is_file():
                self.findings.wrong(
                    f"{key}.{kind}", f'has "{source}", which is no file that there is; say its file'
                )
            else:
                yield f"{path}:{place}:ro"

    def _health(self, key: str, said: Mapping[str, Any], made: Service) -> None:
        check = said.get("healthcheck") or {}
        match ["NONE"] if switch(check.get("disable")) is True else check.get("test"):
            case ["CMD", *words] if words:
                made.table["health"] = shlex.join(map(str, words))
            case ["CMD-SHELL", text]:
                made.table["health"] = shlex.join([*SHELL, str(text)])
            case str(text) if text:
                made.table["health"] = shlex.join([*SHELL, text])
            case ["NONE"]:
                made.table["health"] = NO_HEALTH
            case None:
                return
            case other:
                self.findings.wrong(f"{key}.healthcheck.test", f"is {other!r}, which is no command")
        if "ready" in self.given.get(made.tier, {}):
            made.table.pop("health", None)

    def _limits(self, key: str, tier: str, said: Mapping[str, Any], made: Service) -> None:
        deploy = said.get("deploy") or {}
        limits = (deploy.get("resources") or {}).get("limits") or {}
        given = self.given.get(tier, {})
        if limits.get("cpus") and "mapping" not in given:
            self.findings.wrong(
                f"{key}.deploy.resources.limits.cpus", REFUSED["cpus"].format(tier=tier)
            )
        count = deploy.get("replicas", said.get("scale"))
        if count is not None:
            made.table["count"] = int(count) if str(count).isdigit() else count
        memory = limits.get("memory", said.get("mem_limit"))
        if memory is not None:
            amount = re.fullmatch(r"(\d+)\s*([a-z]*)", str(memory).lower())
            if amount is None or amount[2] not in UNIT:
                self.findings.wrong(key, f"has the limit of memory {memory!r}, which is no size")
            else:
                made.table["memory"] = f"{int(amount[1]) * UNIT[amount[2]] >> 10}KiB"

    def _dependencies(self, key: str, said: Mapping[str, Any], made: Service) -> Iterator[str]:
        stated = said.get("depends_on") or {}
        services = self.document.get("services") or {}
        for each in map(str, stated):
            how = stated[each] if isinstance(stated, dict) else None
            if (how or {}).get("condition") == "service_completed_successfully":
                self.findings.wrong(
                    f"{key}.depends_on.{each}",
                    "waits for a service that ends; a server does not: have an entry point do that"
                    " work",
                )
            elif each in services:
                yield each
            else:
                self.findings.wrong(f"{key}.depends_on", f'names "{each}", which is no service')
        for each in said.get("links") or ():
            service, _, alias = str(each).partition(":")
            if service not in services:
                self.findings.wrong(f"{key}.links", f'names "{service}", which is no service')
                continue
            made.aliases[alias or service] = service
            yield service


def _pair(text: Any) -> tuple[str, str | None]:
    name, equals, value = str(text).partition("=")
    return name, value if equals else None


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
