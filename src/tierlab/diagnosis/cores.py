"""On which CPUs may each server run, and when?"""

from collections.abc import Sequence
from dataclasses import dataclass

from tierlab.analysis.observed import Observed
from tierlab.analysis.resources.in_force import Held, InForce, in_force
from tierlab.analysis.span import Span
from tierlab.tables.manifest import Manifest


@dataclass(frozen=True)
class Cores:
    """A run's servers on those of its CPUs that were sampled (``cpu0`` ...)."""

    manifest: Manifest
    held: InForce
    sampled: tuple[str, ...]

    def of(self, server: str, at_ns: int) -> tuple[str, ...]:
        """Return on which a server may run at a time; all where its place was not read back, or is
        on another machine, which is emulated on these.
        """
        return self._names(self.held.at(server, at_ns))

    def sets(self, span: Span) -> dict[tuple[str, ...], list[Span]]:
        """Return each set on which a server may run, and the stretches in which one may."""
        found: dict[tuple[str, ...], list[Span]] = {}
        for part, held in self.held.steps(span):
            for names in dict.fromkeys(self._names(held[each]) for each in self.manifest.servers):
                found.setdefault(names, []).append(part)
        return found

    def systems(self, names: Sequence[str], at_ns: int) -> list[str]:
        """Return, of several systems, those with servers that may run on just these at a time."""
        there = {
            part.system
            for name, part in self.manifest.servers.items()
            if self.of(name, at_ns) == tuple(names)
        }
        return [name for name in self.manifest.systems if name in there]

    def _names(self, held: Held) -> tuple[str, ...]:
        pus = None if self.manifest.emulated_pus is not None else held.pus
        mine = [name for name in self.sampled if pus and name in {f"cpu{each}" for each in pus}]
        return tuple(mine or self.sampled)


def cores(observed: Observed, sampled: Sequence[str]) -> Cores:
    """Return the CPUs of a run's servers."""
    manifest = observed.run.manifest
    return Cores(manifest, in_force(observed.db, manifest), tuple(sampled))
