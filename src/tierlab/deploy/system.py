"""The whole system of a trial: its tiers' instances, up in the order of need and down again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from tierlab import experiment
from tierlab.deploy.first import run_first
from tierlab.deploy.layout import Place, full_name, layout, topology
from tierlab.deploy.lifecycle import Instance
from tierlab.deploy.needs import check_needs
from tierlab.deploy.placement import placements, vcpus
from tierlab.deploy.standing import Standing
from tierlab.environments.domain import Domain, DomainSpec, Move
from tierlab.environments.environment import Accelerator, Environment
from tierlab.environments.image_root import ImageRoot, Volume
from tierlab.environments.placement import Placement
from tierlab.errors import UserError
from tierlab.machine.hwloc import HOST
from tierlab.servers.base import Server, Site
from tierlab.servers.content import Content
from tierlab.servers.database import Credentials
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.kinds import KINDS
from tierlab.topology import Topology

Value = TypeVar("Value")

UNALTERED: Mapping[str, frozenset[str]] = {}
Progress = Callable[[str], None]
"""Told what is being done, in a few words."""


@dataclass(frozen=True)
class Subject:
    """A running instance, as the samplers need to know it."""

    place: Place
    cgroups: Mapping[str, Path]
    """Its control group's folder by controller; empty without privilege."""
    pids: tuple[int, ...]
    """By its domain's own kernel's numbers."""
    folder: Path
    """Its domain's folder."""
    asked: Placement
    found: Placement
    login: Credentials
    """Whom its database lets in, or the databases of its system."""
    guest: bool = False
    """Whether its domain has a kernel of its own, into which this host's does not see."""

    @property
    def name(self) -> str:
        """Its name, such as ``db.1``."""
        return self.place.name

    @property
    def endpoint(self) -> Endpoint:
        """Where it listens."""
        return self.place.endpoint


class System:
    """A workload's servers, as an experiment's `[system]` has them."""

    def __init__(
        self,
        shape: experiment.System,
        content: Content,
        environment: Environment,
        logs: Path,
        *,
        name: str = "",
        before: int = 0,
        altered: Mapping[str, frozenset[str]] = UNALTERED,
        moving: frozenset[str] = frozenset(),
        profiled: bool = False,
        stacks: bool = False,
    ) -> None:
        """`logs`: where each instance's logs and configuration go when it stops. `name`: its own
        where there are several, of which those before it have so many tiers. `altered`: by server,
        the parts of its placement that somebody else changes meanwhile, on purpose. `moving`: who
        will move to another host. `profiled`: whether programs are sampled, `stacks`: with their
        call stacks.
        """
        self.name = name
        self._shape = shape
        self._content = content
        self._environment = environment
        self._logs = logs
        self._altered = altered
        self._moving = moving
        self._profiled, self._stacks = profiled, stacks
        self._places = layout(shape, environment.addresses, name, before, environment.work)
        self._probe = environment.probe()
        self._asked = self._named(placements(shape, self._probe.machine))
        self._vcpus = self._named(vcpus(shape, self._probe.machine))
        self._domains: dict[str, Domain] = {}
        self._instances: list[Instance | Standing] = []

    def _named(self, found: Mapping[str, Value]) -> dict[str, Value]:
        """What is known of each server, by the name that it has among all systems'."""
        return {full_name(self.name, server): found[server] for server in found}

    @property
    def credentials(self) -> Credentials:
        """What its database lets in."""
        return self._content.credentials

    @property
    def machine(self) -> str:
        """Whose PUs and nodes its servers are placed on, as a source of hwloc's."""
        return self._probe.machine

    @property
    def accelerator(self) -> Accelerator | None:
        """What its servers' processors are; None where they are this host's own."""
        return self._environment.accelerator

    @property
    def emulated_pus(self) -> int | None:
        """How many PUs that machine has; None if it is this host."""
        return None if self._probe.machine == HOST else len(self._probe.pus)

    @property
    def places(self) -> list[Place]:
        """Where its instances listen, or will, in a request's order."""
        return list(self._places.values())

    @property
    def topology(self) -> Topology:
        """Who calls whom of them."""
        return topology(self._shape, self._places)

    def start(self, progress: Progress) -> None:
        """Bring every tier up, the last one first; `UserError` if one does not come.

        Whatever happens, `stop` takes down what came up.
        """
        check_needs(self._shape, self._probe)
        self._domains = {name: self._environment.create(self._spec(name)) for name in self._places}
        for domain in self._domains.values():
            domain.boot()
        for tier in reversed(self.topology.tiers):
            self._bring_up_tier(tier, progress)

    def _bring_up_tier(self, name: str, progress: Progress) -> None:
        own = name.rpartition(".")[2]
        tier, content, data = self._shape.tiers[own], self._content.of(own), None
        if tier.software.is_database:
            progress(f"{name}: seed data")
            data = tier.software.make_data(self._environment, content)
        for subject in self.topology.servers(name):
            server = tier.software(self._site(subject, data), tier.settings, content)
            if subject == self.topology.servers(name)[0]:
                self._run_first(server, progress)
            self._bring_up(server, progress)

    def _run_first(self, server: Server, progress: Progress) -> None:
        """Run what has to end before the first instance of a tier starts."""
        subject = server.site.subject
        for program in server.first_programs():
            progress(f"{subject}: {program.name}, to its end")
            spec = DomainSpec(
                f"{subject}.{program.name}",
                self._asked[subject],
                root=replace(program.root, volumes=self._volumes(program.root)),
                hosts=self._hosts,
            )
            run_first(program, self._environment, spec, self._logs)

    def check(self) -> None:
        """Raise `UserError` if a server has ended, or a placement is no longer as asked."""
        for instance in self._instances:
            instance.check()
            self._verify(instance.server.site.domain)

    def change(self, subject: str, asked: Placement, soft: Mapping[str, int]) -> Placement:
        """Place a running server anew and resize its soft resources; return what was read back.

        What `asked` leaves open stays as it was. `UserError` if something else is then in force.
        """
        server = next(each.server for each in self._instances if each.subject == subject)
        domain = server.site.domain
        merged = domain.spec.placement.changed(asked)
        domain.place(asked)
        domain.spec = replace(domain.spec, placement=merged)
        for resource, limit in soft.items():
            found = server.resize(resource, limit)
            if found != limit:
                raise UserError(f"{subject}: {resource} {limit} asked, {found} in force.")
        return self._verify(domain)

    def move(self, subject: str, host: str) -> Move:
        """Move a running server to another host; all else that was asked must be in force there."""
        domain = self._domains[subject]
        moved = domain.migrate(host)
        domain.spec = replace(domain.spec, placement=replace(domain.spec.placement, host=host))
        self._verify(domain)
        return moved

    def domain(self, subject: str) -> Domain:
        """The domain that a server is in."""
        return self._domains[subject]

    def _verify(self, domain: Domain) -> Placement:
        """Read a domain's placement back; what somebody alters on purpose may differ."""
        altered = self._altered.get(domain.spec.name, frozenset())
        return domain.verify(domain.spec.placement.without(altered))

    def subjects(self) -> list[Subject]:
        """The running instances, in a request's order."""
        order = list(self._places)
        return sorted(
            (self._subject(instance) for instance in self._instances),
            key=lambda subject: order.index(subject.place.name),
        )

    def stop(self) -> None:
        """Take every tier down, the first one first, and keep their logs; callable at any time."""
        problems = []
        while self._instances:
            instance = self._instances.pop()
            try:
                instance.stop()
                instance.save_logs(self._logs)
            except (UserError, OSError) as error:
                problems.append(f"{instance.subject}: {error}")
        if problems:
            raise UserError(f"the system did not come down in order: {'; '.join(problems)}")

    def _bring_up(self, server: Server, progress: Progress) -> None:
        instance = Standing(server) if server.stands else Instance(server)
        progress(f"{server.site.subject}: {server.kind}")
        self._instances.append(instance)
        instance.start()

    def _site(self, name: str, data: Path | None) -> Site:
        place, endpoints = self._places[name], {n: p.endpoint for n, p in self._places.items()}
        return Site(
            self._environment,
            self._domains[name],
            place.endpoint,
            upstreams=tuple(endpoints[callee] for callee in self.topology.callees(name)),
            tiers={self._places[n].own_tier: endpoints[n] for n in reversed(list(endpoints))},
            tier=tuple(endpoints[other] for other in self.topology.servers(place.tier)),
            data=data,
            profiled=self._profiled,
            stacks=self._stacks,
        )

    def _spec(self, name: str) -> DomainSpec:
        place = self._places[name]
        stands, at_port = KINDS[place.server].stands, place.endpoint.port != 0
        return DomainSpec(
            name,
            self._asked[name],
            vcpus=self._vcpus[name],
            address=place.endpoint.address,
            disk=KINDS[place.server].disk,
            standing=(place.endpoint.address, place.endpoint.port) if stands and at_port else None,
            standing_socket=place.endpoint.socket if stands else None,
            moves=name in self._moving,
            root=(root := self._root(place)),
            hosts=() if root is None else self._hosts,
        )

    def _root(self, place: Place) -> ImageRoot | None:
        """The image's that a server comes as, whose volumes are its system's."""
        tier = self._shape.tiers[place.own_tier]
        root = tier.software.root(tier.settings.options)
        if root is None:
            return None
        port = place.endpoint.port
        same = sum(each.endpoint.port == port for each in self._places.values())
        return replace(
            root,
            volumes=self._volumes(root),
            own_loopback=(port != 0 and same > 1) or bool(self.name),
        )

    def _volumes(self, root: ImageRoot) -> tuple[Volume, ...]:
        """The volumes of an image; those that have a name are the system's."""
        return tuple(
            replace(each, source=full_name(self.name, each.source)) if each.is_named else each
            for each in root.volumes
        )

    @property
    def _hosts(self) -> tuple[tuple[str, str], ...]:
        """By each of their names, where its servers are."""
        tiers = self._shape.application.tiers
        return tuple(
            (name, place.endpoint.address)
            for place in self._places.values()
            for name in (place.own_tier, *tiers[place.own_tier].names)
        )

    def _subject(self, instance: Instance | Standing) -> Subject:
        domain, place = instance.server.site.domain, self._places[instance.subject]
        return Subject(
            place=place,
            cgroups=domain.cgroups(),
            pids=tuple(domain.pids()),
            folder=domain.folder,
            asked=domain.spec.placement,
            found=domain.read_back(),
            login=self._content.login(place.own_tier),
            guest=domain.inside() is not None,
        )
