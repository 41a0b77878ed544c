"""What else was unusual in a window whose cause is not known?"""

from tierlab.diagnosis.evidence import CORES, FAULTS, SOME
from tierlab.diagnosis.finding import Evidence, Window
from tierlab.diagnosis.signals import Signals

WATCHED = (
    ("pressure", SOME, "resource = 'cpu'", "wait for a CPU"),
    ("pressure", SOME, "resource = 'memory'", "wait for memory"),
    ("pressure", SOME, "resource = 'io'", "wait for I/O"),
    ("domain", CORES, "true", "use of CPU"),
    ("domain", FAULTS, "true", "major page faults"),
    ("cpu", "busy", "true", "use of the core"),
    ("cpu", "iowait", "true", "wait for disks"),
    ("cpu", "steal", "true", "time stolen by a hypervisor"),
    ("disk", "busy", "true", "use of the device"),
    ("disk", "write_time_ns * 1.0 / dt_ns", "true", "writing"),
    ("memory", "major_faults * 1e9 / dt_ns", "true", "major page faults"),
    ("tcp", "retransmissions * 1e9 / dt_ns", "true", "segments sent again"),
    ("listen", "accept_queue", "true", "connections not accepted yet"),
    ("soft", "waiting", "true", "requests waiting for a soft resource"),
    ("database", "threads_running", "true", "statements running"),
    ("database", "log_waits + buffer_pool_waits", "true", "waits for the log or the buffer pool"),
)
"""Table, figure, rows and what it says when it is high."""

RARE = 0.05
MOST = 3


def moved(signals: Signals, window: Window) -> list[Evidence]:
    """Return what was as high in at most 5 % of equally long windows, the rarest first.

    The shares are corrected for the number of figures looked at (S. Holm, 1979, "A simple
    sequentially rejective multiple test procedure").
    """
    shares = []
    for table, value, where, words in WATCHED:
        for subject in signals.subjects(table, value, where):
            signal = signals.get(table, value, subject, where)
            if signal is None or not signal.within(window).any():
                continue
            share = signal.as_strong(window)
            if share is not None:
                shares.append((share, table, subject, words))
    shares.sort()
    found = []
    reached = 0.0
    for index, (share, table, subject, words) in enumerate(shares):
        reached = max(reached, min(1.0, share * (len(shares) - index)))
        if reached > RARE:
            break
        said = f"{words} of {subject} was as high in {reached:.1%} of equally long windows"
        found.append(Evidence(table=table, subject=subject, support=None, words=said))
    return found[:MOST]
