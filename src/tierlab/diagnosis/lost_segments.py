"""How many segments were lost in a window, and on which side of the capture?"""

from dataclasses import dataclass

from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.signals import Signal
from tierlab.diagnosis.stall_context import StallContext

SPURIOUS = "spurious_retransmissions"
LOST = f"retransmissions - {SPURIOUS}"


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
    found = [
        (max(0.0, _beyond(signal, context.window)), subject)
        for subject in context.signals.subjects("tcp", LOST)
        if (signal := context.signals.get("tcp", LOST, subject)) is not None
        and signal.within(context.window).size
    ]
    if not found:
        return None
    lost, subject = max(found)
    signal = context.signals.get("tcp", SPURIOUS, subject)
    stretch = None if signal is None else signal.covering(context.window)
    there, mine = context.at(receiver), context.sent_again
    if signal is None or stretch is None or mine is None:
        return LostSegments(lost, lost, None)
    asked = None if there is None else there.sent_again
    later = 0 if asked is None else asked.asked_again_later(stretch)
    spurious = float(signal.within(context.window).sum())
    # What was sent again although it had arrived was captured twice, too.
    captured = max(0.0, mine.data(stretch) - spurious)
    at_its_end = max(0.0, mine.data_to_it(stretch) - spurious) + mine.asked(stretch)
    return LostSegments(lost + later, max(0.0, lost - captured) + later, at_its_end)


def _beyond(signal: Signal, window: Window) -> float:
    seen = signal.within(window)
    return float(seen.sum()) - signal.usual * seen.size
