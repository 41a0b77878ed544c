"""What was not understood of a profile: how much, an example, and when that is too much."""

from __future__ import annotations

from dataclasses import dataclass, field

from tierlab.errors import UserError
from tierlab.exchange.perf_script import Damage, Unread

MOST_NOT_UNDERSTOOD = 0.1
"""Share of the samples; a profile of which more are not understood is refused."""
PRINT_ANEW = (
    "print it anew with `perf script --header --ns --no-inline -F"
    " comm,pid,tid,cpu,time,event,period,ip,sym,dso`"
)
_SHOWN = 100


@dataclass
class _Kind:
    """Lines of one kind, and the first of them."""

    count: int = 0
    first: Unread | None = None

    def add(self, unread: Unread) -> None:
        self.count += 1
        self.first = self.first or unread

    @property
    def example(self) -> str:
        first = self.first
        return "" if first is None else f"line {first.line} ('{first.text[:_SHOWN]}')"


@dataclass
class NotUnderstood:
    """Collects what was not understood while a profile is read."""

    damage: str | None = None
    samples: _Kind = field(default_factory=_Kind)
    """Left out: what they are of is not known."""
    functions: _Kind = field(default_factory=_Kind)
    """Of samples that are taken without one."""
    lines: _Kind = field(default_factory=_Kind)

    def add(self, found: Unread | Damage) -> None:
        """Count what a reader did not understand."""
        if isinstance(found, Damage):
            self.damage = found.reason
        elif found.of_sample:
            self.functions.add(found)
        elif found.is_sample:
            self.samples.add(found)
        else:
            self.lines.add(found)

    def check(self, recording: str, taken: int) -> None:
        """Raise :class:`UserError` if too much was not understood beside so many samples."""
        for kind, every, what in (
            (self.samples, taken + self.samples.count, "samples are not understood"),
            (self.functions, taken, "samples have a function that is not understood"),
        ):
            if kind.count > MOST_NOT_UNDERSTOOD * every:
                raise UserError(
                    f"{recording}: {kind.count} of {every} {what}, such as {kind.example}:"
                    f" {PRINT_ANEW}."
                )
        if self.lines.count > taken:
            raise UserError(
                f"{recording}: {self.lines.count} lines are not understood, more than the {taken}"
                f" samples that it has, such as {self.lines.example}: {PRINT_ANEW}."
            )

    def notes(self, recording: str, taken: int) -> list[str]:
        """Return a sentence for each thing that was not understood."""
        said = []
        if self.damage is not None:
            said.append(
                f"{recording} {self.damage}: the samples before its end are taken, and the last one"
                " may lack callers."
            )
        if self.samples.count:
            every = taken + self.samples.count
            said.append(
                f"{recording}: {self.samples.count} of {every} samples were not understood and are"
                f" left out, such as {self.samples.example}."
            )
        if self.functions.count:
            said.append(
                f"{recording}: {self.functions.count} of {taken} samples have no function, as it"
                f" was not understood: see {self.functions.example}."
            )
        if self.lines.count:
            said.append(
                f"{recording}: {self.lines.count} other lines were not understood, such as"
                f" {self.lines.example}."
            )
        return said
