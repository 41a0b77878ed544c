"""What a cause is judged by: one server in one stretch of time, and the run around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

from tierlab.diagnosis.arrivals import Arrivals
from tierlab.diagnosis.calls import Calls
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.sent_again import SentAgain
from tierlab.diagnosis.signals import Signal, Signals

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Pause:
    """A stop of all threads that the server itself logged."""

    window: Window
    reason: str

    def touches(self, window: Window) -> bool:
        """Say whether any of it lies in the window."""
        return self.window.start_ns < window.end_ns and self.window.end_ns > window.start_ns


@dataclass(frozen=True)
class StallContext:
    """One server, suspected for one window, in which so many visits were ``waiting``.

    ``entry`` is the first server. ``tells_pauses`` and ``tells_locks`` say whether this server
    gives that evidence of itself, as far as this run tells; ``pauses`` is None where none was kept.
    ``worker_threads`` says whether each request has one of its ``threads`` to itself; None where
    nobody knows, or that was not kept.
    ``cores`` are the CPUs that the server may run on, ``weight`` its share's as it was read back
    (1024 is the usual), ``laboratory`` the share of each that driving and watching takes (0 where
    that is not known), and ``peers`` the contexts, in the same window, of the other servers that
    may run on any of them. ``at`` gives another server's context in the same window, None
    of one that the manifest does not know.
    ``toward`` is the share of the waiting that ended with the arrival at each callee, None where
    another server stalled. ``leaving`` counts the visits that left the server in a window, and
    ``visiting`` those that came to or left the server, whichever are more; None where messages were
    not captured, but ``visiting`` are the users' requests then. ``usual_visits`` are a second's.
    ``arrivals`` are the visits that came whole to the first server and, where a page is asked for
    with its files, those of them that went further; the users' requests where messages were not
    captured. ``calls`` are those that it and the others of its tier make; None at the last tier and
    where messages were not captured. ``incoming`` is how many requests to the server were being
    sent in a window, from their first byte to their last, on average; None where messages were not
    captured. ``sent_again`` is what was captured again on its way; None where messages were not
    captured or no events were kept. ``connections`` counts those on which the server had visits in
    a window; None where messages were not captured. ``above`` is the caller: of a tier of several
    its last, None at the first tier. ``full_by_chance`` says whether all of ``cores`` were full
    around a window for no longer than they are by chance at this load; None where they were not
    measured. ``answers`` are what rules have said of it (:func:`asked_once`).
    """

    subject: str
    window: Window
    waiting: int
    entry: str
    limits: dict[str, int]
    worker_threads: bool | None
    toward: dict[str, float] | None
    signals: Signals
    tells_pauses: bool
    tells_locks: bool
    pauses: list[Pause] | None
    cores: tuple[str, ...]
    weight: float | None
    laboratory: float
    peers: tuple[StallContext, ...]
    at: Callable[[str], StallContext | None]
    leaving: Callable[[Window], int] | None
    arrivals: tuple[Arrivals, ...]
    visiting: Callable[[Window], int] | None
    calls: Calls | None
    incoming: Callable[[Window], float] | None
    sent_again: SentAgain | None
    connections: Callable[[Window], int] | None
    above: str | None
    usual_visits: float
    full_by_chance: Callable[[Window], bool] | None
    answers: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def signal(self, table: str, value: str, where: str = "true") -> Signal | None:
        """Return a figure of the suspected server."""
        return self.signals.get(table, value, self.subject, where)

    def mean(self, table: str, value: str, where: str = "true") -> float | None:
        """Return the figure's mean over the window; None where it was not measured."""
        signal = self.signal(table, value, where)
        return None if signal is None else signal.mean(self.window)

    def beyond(self, table: str, value: str, where: str = "true") -> float | None:
        """Return by how much the mean is beyond what is usual for the server."""
        signal = self.signal(table, value, where)
        return None if signal is None else signal.beyond(self.window)

    def shared(self, other: StallContext) -> float:
        """Return which share of the other's CPUs this server may run on, too: what the other used
        is taken to have been used on all of its CPUs alike.
        """
        there = len({*self.cores} & {*other.cores})
        return there / len(other.cores) if there else 0.0

    def around(self, before_ns: int, after_ns: int = 0) -> Window:
        """Return the window, widened: for sources that tick slowly or tell late."""
        return Window(
            start_ns=self.window.start_ns - before_ns, end_ns=self.window.end_ns + after_ns
        )


def asked_once(rule: Callable[[StallContext], Answer]) -> Callable[[StallContext], Answer]:
    """Have a context keep what a rule says of it: several causes, and its peers', ask the same."""

    @wraps(rule)
    def known(context: StallContext) -> Answer:
        if rule not in context.answers:
            context.answers[rule] = rule(context)
        found: Answer = context.answers[rule]
        return found

    return known
