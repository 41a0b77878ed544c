"""How many segments were lost in a window, and on which side of the capture?"""

from dataclasses import dataclass

from tierlab.diagnosis.case import Case, against
from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.sent_again import SentAgain
from tierlab.diagnosis.signals import Signal
from tierlab.diagnosis.stall_context import StallContext
from tierlab.diagnosis.thresholds import support

SPURIOUS = "spurious_retransmissions"
LOST = f"retransmissions - {SPURIOUS}"
ASKING = "syn_retransmissions"
DROPPED = "listen_drops"
"""Connection requests that a listener had no room for."""

FILLED = "accept_queue * 1.0 / nullif(backlog, 0)"
"""How full a listener's queue was."""

MOST = 0.5
"""So many connection requests that were dropped, of those who wait, explain the wait."""

JUST_BEFORE_NS = 50_000_000
"""A connection request that is dropped begins the wait ..."""

JUST_AFTER_NS = 50_000_000
"""... and what was late ends it."""


@dataclass(frozen=True)
class LostSegments:
    """Segments that were sent again and had not arrived, beyond the usual; those that ask for a
    connection count when they are lost, others when they are sent again.

    ``on_the_way`` are without data that had been captured before, whoever lost it then; all of them
    where that is not known. ``at_its_end`` had been captured on their way to the suspected server;
    None: not known.
    """

    all: float
    on_the_way: float
    at_its_end: float | None

    @property
    def share_at_its_end(self) -> float | None:
        """Return which share of all was lost at the suspected server's own end."""
        if self.at_its_end is None:
            return None
        return min(1.0, self.at_its_end / self.all) if self.all > 0 else 0.0


def lost_segments(context: StallContext, receiver: str) -> LostSegments | None:
    """Count them in the network namespace with the most, and those who asked the receiver for a
    connection in vain; None: not measured.
    """
    there, mine = context.at(receiver), context.sent_again
    asked = None if there is None else there.sent_again
    found = [
        (
            max(0.0, _beyond(signal, context.window) - _asked_elsewhere(context, subject, asked)),
            subject,
        )
        for subject in context.signals.subjects("tcp", LOST)
        if (signal := context.signals.get("tcp", LOST, subject)) is not None
        and signal.within(context.window).size
    ]
    if not found:
        return None
    lost, subject = max(found)
    signal = context.signals.get("tcp", SPURIOUS, subject)
    stretch = None if signal is None else signal.covering(context.window)
    if signal is None or stretch is None or mine is None:
        return LostSegments(lost, lost, None)
    later = 0 if asked is None else asked.asked_again_later(stretch)
    spurious = float(signal.within(context.window).sum())
    # What was sent again although it had arrived was captured twice, too.
    captured = max(0.0, mine.data(stretch) - spurious)
    at_its_end = max(0.0, mine.data_to_it(stretch) - spurious) + mine.asked(stretch)
    return LostSegments(lost + later, max(0.0, lost - captured) + later, at_its_end)


def _asked_elsewhere(context: StallContext, subject: str, asked: SentAgain | None) -> float:
    """Return how many of those that a namespace sent again asked other servers for a connection, as
    the capture has it: those whom a full accept queue sends away are no loss on another way.
    """
    signal = context.signals.get("tcp", ASKING, subject)
    stretch = None if signal is None else signal.covering(context.window)
    if signal is None or stretch is None or asked is None:
        return 0.0
    return min(float(signal.within(context.window).sum()), asked.asked_elsewhere(stretch))


def _beyond(signal: Signal, window: Window) -> float:
    seen = signal.within(window)
    return float(seen.sum()) - signal.usual * seen.size


def waiting_for_segments(context: StallContext, receiver: str) -> int:
    """Return who can have waited for a lost segment: of those who wait for a worker, or for one of
    a few connections to whom was reached late, each connection's one.
    """
    return min(context.waiting, _connections(context, receiver))


def _connections(context: StallContext, receiver: str) -> int:
    """Return on how many connections the receiver had visits, up to when what was late had come;
    how many wait where that is not known.
    """
    there = context.at(receiver)
    used = None if there is None else there.connections
    return context.waiting if used is None else used(context.around(0, JUST_AFTER_NS))


def accept_queue(context: StallContext, server: str) -> float | None:
    """Return how full the server's accept queue was at most. Who is sent away asks again with all
    others at once, and fills it for less than a tick: a listener that dropped most was full. Whose
    the drops are nobody counts: where another's queue was full they are that one's.
    """
    signals, window = context.signals, context.around(JUST_BEFORE_NS, JUST_AFTER_NS)
    own = _fullest(context, server)
    known = [] if own is None else [own]
    others = [each for each in signals.subjects("listen", FILLED) if each != server]
    if any(support("accept queue", _fullest(context, each)) for each in others):
        return own
    for subject in signals.subjects("tcp", DROPPED):
        dropped = signals.get("tcp", DROPPED, subject)
        if dropped is not None and dropped.within(window).sum() >= MOST * context.waiting:
            known.append(1.0)
    return max(known, default=None)


def _fullest(context: StallContext, server: str) -> float | None:
    signal = context.signals.get("listen", FILLED, server)
    seen = None if signal is None else signal.within(context.around(JUST_BEFORE_NS))
    return float(seen.max()) if seen is not None and seen.size else None


def no_losses(case: Case, context: StallContext) -> None:
    """Rule a cause out where segments to the server, or to those whose visits the wait ended with,
    were lost and the listener had room for them; nothing is said otherwise.
    """
    asked = {context.subject: 1.0} | (context.toward or {})
    most = max(share * _lost_to(context, each) for each, share in asked.items())
    if most > 0.0:
        case.beside("tcp", against(most), "no segments were lost on their way")


def _lost_to(context: StallContext, receiver: str) -> float:
    """Return how far lost segments explain the wait, 0 where none is known of."""
    lost = lost_segments(context, receiver)
    if lost is None or not lost.all:
        return 0.0
    waited = max(1, waiting_for_segments(context, receiver))
    there = support("segments lost", lost.all / waited) or 0.0
    return there - (support("accept queue", accept_queue(context, receiver)) or 0.0)
