"""How many segments were lost in a window, and on which side of the capture?"""

from dataclasses import dataclass

from tierlab.diagnosis.finding import Window
from tierlab.diagnosis.sent_again import within
from tierlab.diagnosis.signals import Signal
from tierlab.diagnosis.stall_context import StallContext

SPURIOUS = "spurious_retransmissions"
LOST = f"retransmissions - {SPURIOUS}"


@dataclass(frozen=True)
class LostSegments:
    """Segments that were sent again and had not arrived, beyond the usual.

    ``uncaptured`` of them had not been captured before, on whatever way; all of them where that is
    not known. ``at_its_end`` had been, on their way to the suspected server; None: not known.
    """

    all: float
    uncaptured: float
    at_its_end: float | None

    @property
    def share_at_its_end(self) -> float | None:
        """Return which share of all was lost at the suspected server's own end."""
        if self.at_its_end is None:
            return None
        return min(1.0, self.at_its_end / self.all) if self.all > 0 else 0.0


def lost_segments(context: StallContext) -> LostSegments | None:
    """Count them in the network namespace with the most; None: not measured."""
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
    again = context.sent_again
    if signal is None or stretch is None or again is None:
        return LostSegments(lost, lost, None)
    spurious = float(signal.within(context.window).sum())
    # What was sent again although it had arrived was captured twice, too.
    captured = max(0.0, within(again.in_all, stretch) - spurious)
    at_its_end = max(0.0, within(again.to_it, stretch) - spurious)
    return LostSegments(lost, max(0.0, lost - captured), at_its_end)


def _beyond(signal: Signal, window: Window) -> float:
    seen = signal.within(window)
    return float(seen.sum()) - signal.usual * seen.size
