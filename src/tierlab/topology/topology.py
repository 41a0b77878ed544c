"""The graph of a system: its server instances, by tier, and the calls between them.

It is built once, from the experiment, and kept in the manifest. Whoever has to know who calls whom
asks it: which visits may have caused which, where a pool's connections lead, which way is upstream.
Branches, servers that several call and tiers that call themselves are ordinary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise


@dataclass(frozen=True)
class Call:
    """One server calls another, by a protocol."""

    caller: str
    callee: str
    protocol: str
    found: bool = False
    """No file says it: it was seen before the run."""


@dataclass(frozen=True)
class Topology:
    """``tier_of`` has every server's tier by the server's name; both of a call are among them.
    ``workers`` are servers that nobody calls, and users neither.
    """

    tier_of: Mapping[str, str]
    calls: tuple[Call, ...]
    workers: frozenset[str] = frozenset()

    @classmethod
    def chain(cls, tier_of: Mapping[str, str], protocol_of: Mapping[str, str]) -> Topology:
        """Every server of a tier calls every one of the next, in the order in which they stand."""
        tiers = list(dict.fromkeys(tier_of.values()))
        members = {tier: [name for name in tier_of if tier_of[name] == tier] for tier in tiers}
        calls = (
            Call(caller, callee, protocol_of[callee])
            for calling, called in pairwise(tiers)
            for caller in members[calling]
            for callee in members[called]
        )
        return cls(tier_of, tuple(calls))

    @classmethod
    def of(cls, parts: Sequence[Topology]) -> Topology:
        """Several graphs beside one another."""
        tier_of = {name: tier for part in parts for name, tier in part.tier_of.items()}
        calls = tuple(call for part in parts for call in part.calls)
        return cls(tier_of, calls, frozenset().union(*(part.workers for part in parts)))

    def callees(self, server: str) -> list[str]:
        """Whom a server calls."""
        return [call.callee for call in self.calls if call.caller == server]

    def callers(self, server: str) -> list[str]:
        """Who calls a server; nobody but users where it is empty."""
        return [call.caller for call in self.calls if call.callee == server]

    def below(self, server: str) -> frozenset[str]:
        """Whom a server's calls lead to, near or far; never itself, though calls may lead back."""
        return self._below.get(server, frozenset())

    @cached_property
    def _below(self) -> dict[str, frozenset[str]]:
        return {name: frozenset(self._reached(name)) - {name} for name in self.tier_of}

    def _reached(self, server: str) -> set[str]:
        reached: set[str] = set()
        waiting = [server]
        while waiting:
            found = set(self.callees(waiting.pop())) - reached
            reached |= found
            waiting += found
        return reached

    @cached_property
    def entries(self) -> list[str]:
        """The servers that users call: those that no other tier calls."""
        return [
            name
            for name, tier in self.tier_of.items()
            if name not in self.workers
            and all(self.tier_of[caller] == tier for caller in self.callers(name))
        ]

    @cached_property
    def depth(self) -> dict[str, int]:
        """By tier, how far it is from the users: the longest way of calls that leads to it."""
        pairs = {(self.tier_of[call.caller], self.tier_of[call.callee]) for call in self.calls}
        return depths(set(self.tier_of.values()), pairs)

    @cached_property
    def tiers(self) -> list[str]:
        """The tiers from the users on; of like depth in the order in which they stand."""
        return sorted(dict.fromkeys(self.tier_of.values()), key=self.depth.__getitem__)

    def servers(self, tier: str) -> list[str]:
        """A tier's servers."""
        return [name for name, its in self.tier_of.items() if its == tier]


def depths(tiers: set[str], calls: set[tuple[str, str]]) -> dict[str, int]:
    """How far each tier is from the users: the longest way of ``calls`` (caller, callee) to it.

    Calls that lead back, as a tier's of itself, count for nothing.
    """
    depth = dict.fromkeys(tiers, 0)
    for _ in tiers:
        for caller, callee in calls:
            if caller != callee and depth[caller] + 1 < len(tiers):
                depth[callee] = max(depth[callee], depth[caller] + 1)
    return depth
