"""One service of a compose file as the table of a server."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tierlab.environments.containers.oci_image import OciImage, find_image
from tierlab.errors import UserError
from tierlab.servers.image_options import NO_HEALTH
from tierlab.servers.own_options import USUAL_PORTS
from tierlab.workloads.own.compose.build import build_command, image_of, unknown_keys
from tierlab.workloads.own.compose.environment import Variables, environment_of, written
from tierlab.workloads.own.compose.findings import Findings
from tierlab.workloads.own.compose.inline import Files
from tierlab.workloads.own.compose.keys import look_at_keys
from tierlab.workloads.own.compose.limits import LIMITS, look_at_limits
from tierlab.workloads.own.compose.places import FormError, Volumes, idle_keys, ports_of
from tierlab.workloads.own.compose.replaced import calls_nobody, spoken, takes_place
from tierlab.workloads.own.compose.switches import switch

SHELL = ("/bin/sh", "-c")
OURS = {"user": "run_as", "working_dir": "workdir", "stop_signal": "stop_signal"}
"""Keys that are taken as they stand, and what an experiment file calls them."""
COMPLETED = "service_completed_successfully"


@dataclass
class Service:
    """A service: its name in the file, its server's in the system, and that one's table. The values
    in the table's `environment` are those of the process: no dollar stands for anything.
    """

    name: str
    tier: str
    table: dict[str, Any] = field(default_factory=dict)
    after: tuple[str, ...] = ()
    """The services that it depends on."""
    published: bool = False
    aliases: dict[str, str] = field(default_factory=dict)
    """Names by which it calls others, each with the service."""
    first: tuple[str, ...] = ()
    """The services that have to end before it begins."""
    found: OciImage | None = None
    """Its image, if podman has it."""


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
    once: frozenset[str] = frozenset()
    """The services that end before others begin: they need no port."""

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
            self._commands(key, said, made)
            found = environment_of(key, said, Variables(self.folder, self.variables, self.findings))
            if found:
                made.table["environment"] = found
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
        made.found = self._image(key, made.name, said, made)
        given = self.given.get(made.tier, {})
        if made.name not in self.once:
            self._ports(key, said, made, made.found)
            made.table |= look_at_limits(key, made.tier, said, given, self.findings)
        else:
            made.table |= {"within": given["within"]} if "within" in given else {}
            if limits := [each for each in LIMITS if each in said]:
                self.findings.note(f"{key}: without effect, as it ends: {', '.join(limits)}")
        self._volumes(key, made.name, said, made)
        self._health(key, said, made)
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
                return None
            image = image_of(name, said, self.project)
        for each in unknown_keys(build):
            self.findings.wrong(
                f"{key}.build.{each}", "is nothing that Tierlab knows of; remove it"
            )
        made.table["image"] = image
        try:
            found = find_image(image)
        except UserError as error:
            if build is not None and own is None:
                self._unbuilt(key, said, image)
            else:
                self.findings.wrong(f"{key}.image", str(error))
            return None
        if build is not None:
            self.findings.note(f"{key}: {image} is as it was built last (build is not run)")
        return found

    @property
    def project(self) -> str:
        """The name by which images are called that have none."""
        said = self.document.get("name") or self.variables.get("COMPOSE_PROJECT_NAME")
        return str(said or self.folder.resolve().name)

    def _unbuilt(self, key: str, said: Mapping[str, Any], tag: str) -> None:
        command = build_command(said, tag, self.folder, self.document, self.project)
        self.findings.wrong(
            f"{key}.build",
            f"is not run by Tierlab; build it first: {command}",
        )

    def _commands(self, key: str, said: Mapping[str, Any], made: Service) -> None:
        for name in ("command", "entrypoint"):
            value = said.get(name)
            if isinstance(value, list):
                made.table[name] = shlex.join(map(written, value))
            elif value is not None:
                made.table[name] = str(value)
        if made.found is not None:
            self._emptied(key, made, made.found)

    def _emptied(self, key: str, made: Service, image: OciImage) -> None:
        """Have what is empty stand for no words, where the image's own would be taken."""
        table = made.table
        if not table.get("entrypoint", "x").strip():
            table["entrypoint"] = table.pop("command", "")
        elif not table.get("command", "x").strip():
            del table["command"]
            table.setdefault("entrypoint", shlex.join(image.words("Entrypoint")))
        if not table.get("entrypoint", "x").strip():
            self.findings.wrong(
                key, "has an empty entrypoint or command, and no other words to run"
            )

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
                if idle := idle_keys(each):
                    self.findings.note(f"{key}.volumes: without effect in a trial: {idle}")
            except FormError as error:
                self.findings.wrong(f"{key}.volumes", str(error))
        memory = said.get("tmpfs") or []
        for each in memory if isinstance(memory, list) else [memory]:
            place, _, options = str(each).partition(":")
            found.append(f"tmpfs:{place}")
            if options:
                self.findings.note(f"{key}.tmpfs: without effect in a trial: {options}")
        found += self._files(key, said, "secrets", "/run/secrets/{}")
        found += self._files(key, said, "configs", "/{}")
        if found:
            made.table["volumes"] = found

    def _files(self, key: str, said: Mapping[str, Any], kind: str, usual: str) -> Iterator[str]:
        """Secrets and configs, each a file."""
        files = Files(self.folder, self.document, self.variables)
        for each in said.get(kind) or ():
            table = each if isinstance(each, dict) else {"source": each}
            source, target = str(table.get("source")), table.get("target")
            place = str(target) if str(target).startswith("/") else usual.format(target or source)
            owner = [name for name in ("uid", "gid") if table.get(name) is not None]
            if owner:
                self.findings.note(f"{key}.{kind}: without effect in a trial: {', '.join(owner)}")
            try:
                yield f"{files.path(kind, source, table.get('mode'))}:{place}:ro"
            except FormError as error:
                self.findings.wrong(f"{key}.{kind}", str(error))

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

    def _dependencies(self, key: str, said: Mapping[str, Any], made: Service) -> Iterator[str]:
        stated = said.get("depends_on") or {}
        services = self.document.get("services") or {}
        for each in map(str, stated):
            how = (stated[each] if isinstance(stated, dict) else None) or {}
            if each not in services:
                if switch(how.get("required")) is not False:
                    self.findings.wrong(f"{key}.depends_on", f'names "{each}", which is no service')
            elif how.get("condition") == COMPLETED and each == made.name:
                self.findings.wrong(f"{key}.depends_on", "waits for itself to end; remove that")
            elif how.get("condition") == COMPLETED:
                made.first = (*made.first, each)
            else:
                yield each
        for each in said.get("links") or ():
            service, _, alias = str(each).partition(":")
            if service not in services:
                self.findings.wrong(f"{key}.links", f'names "{service}", which is no service')
                continue
            made.aliases[alias or service] = service
            yield service
