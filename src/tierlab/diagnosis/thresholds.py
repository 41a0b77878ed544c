"""From which level on does a figure speak for a cause? Every level that a cause uses, in one table.

What a figure is measured against comes first: where physics gives no absolute level it is how far
the figure is beyond what is usual for that server in the run's own quiet time
(:attr:`tierlab.diagnosis.signals.Signal.usual`). ``bench/diagnosis/run.py --thresholds`` prints how
the accuracy changes when each is halved and doubled.
"""

from dataclasses import dataclass, replace
from typing import Literal

Against = Literal["physics", "quiet", "visits"]
"""``physics``: an absolute level, a share of all time, or nothing at all. ``quiet``: beyond the
server's own quiet time. ``visits``: beyond what as many visits usually bring."""


@dataclass(frozen=True)
class Threshold:
    """Up to ``low`` a figure says nothing, from ``high`` on all that it can say, a straight line
    between. ``why`` is how the levels were found.
    """

    figure: str
    low: float
    high: float
    against: Against
    why: str

    def support(self, value: float | None) -> float | None:
        """Return how far the value speaks for it, 0..1; None stays None.

        >>> Threshold("share", 0.25, 0.75, "physics", "").support(0.5)
        0.5
        """
        if value is None:
            return None
        if self.low == self.high:
            return float(value >= self.low)
        return min(1.0, max(0.0, (value - self.low) / (self.high - self.low)))

    def times(self, factor: float) -> "Threshold":
        """Return both levels moved by a factor."""
        return replace(self, low=self.low * factor, high=self.high * factor)


_DISTURBED = "between undisturbed trials and those with random disturbances (bench/diagnosis)"

THRESHOLDS: dict[str, Threshold] = {
    "cpu wait": Threshold(
        "share of time a task was ready and got no CPU", 0.3, 0.6, "quiet", _DISTURBED
    ),
    "cpu want": Threshold(
        "share of all time a task was ready and got no CPU",
        0.3,
        0.6,
        "physics",
        "as the former; where demand is beyond capacity for long there is no quiet time",
    ),
    "cpus busy": Threshold(
        "busy share of the CPUs that it may run on",
        0.9,
        0.98,
        "physics",
        "CPUs are full at 1; a tick errs by 2 to 3 points, twice that is left",
    ),
    "foreign cores": Threshold(
        "cores used where no visit was served, of each two that the server may run on",
        0.2,
        0.6,
        "visits",
        "a fifth of a core is what the laboratory and a collector may add to the usual",
    ),
    "served": Threshold(
        "the servers' share of what was used of their CPUs beside interrupts and the laboratory",
        0.55,
        0.75,
        "physics",
        "half of it is more than anybody else has; the laboratory's is known as a mean only",
    ),
    "throttled": Threshold(
        "share of time held back by a CPU limit",
        0.1,
        0.4,
        "quiet",
        "a limit that holds nobody back throttles nothing: 0; a tenth is one period in ten",
    ),
    "stolen": Threshold(
        "share of its CPUs' time given to others by a hypervisor",
        0.1,
        0.3,
        "quiet",
        "counted in ticks of 10 ms: two of them in a window of 200 ms are a tenth",
    ),
    "outweighed": Threshold(
        "weight of the others on its CPUs over its own",
        1.5,
        4.0,
        "physics",
        "beside one other a third of the CPU time is left at 2, a fifth at 4",
    ),
    "io wait": Threshold("share of time a task waited for I/O", 0.25, 0.6, "quiet", _DISTURBED),
    "pages flushed": Threshold(
        "changed pages written a second",
        200.0,
        400.0,
        "quiet",
        "200 are what a database writes in the background unless told otherwise "
        "(innodb_io_capacity); a checkpoint wrote 1,000 on a disk of 32 MiB/s",
    ),
    "pages missed": Threshold(
        "pages that were not in the buffer pool, in the window and what is told of it later",
        50.0,
        150.0,
        "quiet",
        "while another job wrote to the disk, or took memory, up to 134 were missed; of one that "
        "was emptied a thousand and more",
    ),
    "read from disk": Threshold(
        "bytes a second that its domain read from the disk",
        2.0**19,
        1.5 * 2.0**20,
        "quiet",
        "while another job wrote to the disk up to 0.7 MB; 200 reads of MariaDB's pages are 3.3 MB",
    ),
    "reads in flight": Threshold(
        "pages that its sessions waited for at once",
        0.5,
        2.0,
        "quiet",
        "a page of the kernel's cache is there at once; while another job wrote it was 0.04",
    ),
    "memory wait": Threshold(
        "share of time a task waited for memory",
        0.02,
        0.2,
        "quiet",
        "an undisturbed server waits for none",
    ),
    "memory wait with refaults": Threshold(
        "share of time a task waited for memory, where pages came back",
        0.2,
        0.6,
        "quiet",
        _DISTURBED,
    ),
    "memory limit": Threshold(
        "memory in use over its limit",
        0.98,
        0.995,
        "physics",
        "the kernel makes room once the next page does not fit; a tick misses the last few",
    ),
    "faults": Threshold(
        "major page faults a second",
        60.0,
        300.0,
        "quiet",
        "an undisturbed server has none; one fault reads many pages",
    ),
    "refaults": Threshold(
        "pages read back a second", 500.0, 2500.0, "quiet", "an undisturbed server reads none back"
    ),
    "refaults with memory wait": Threshold(
        "pages read back a second, where tasks waited for memory", 50.0, 250.0, "quiet", _DISTURBED
    ),
    "idle": Threshold(
        "cores used by a server that may be stopped",
        0.004,
        0.03,
        "physics",
        "a stopped server uses none; a tick's edge may have some",
    ),
    "waited otherwise": Threshold(
        "largest share of time a task can have waited for CPU, memory or disk",
        0.3,
        0.6,
        "physics",
        "a stopped server waits for nothing",
    ),
    "left": Threshold(
        "visits that left in the middle of the window",
        0.0,
        3.0,
        "physics",
        "nothing leaves a stopped server; packets under way do",
    ),
    "paused": Threshold(
        "share of the window in which its runtime held all threads",
        0.25,
        0.6,
        "physics",
        "a stall lasts longer than the pause that made it, by what piled up",
    ),
    "paused otherwise": Threshold(
        "share of the window in which its runtime held all threads, ruling others out",
        0.3,
        0.6,
        "physics",
        "as the former",
    ),
    "collecting": Threshold(
        "cores used in a collection", 0.0, 0.1, "physics", "a collector computes"
    ),
    "lock waiters": Threshold(
        "statements that waited for a lock at once", 0.0, 1.0, "quiet", "one is enough"
    ),
    "lock waiters otherwise": Threshold(
        "statements that waited for a lock at once, ruling others out",
        0.0,
        2.0,
        "quiet",
        "one may be there by chance",
    ),
    "locked out": Threshold(
        "share of time a task waited for CPU or memory, ruling a lock out",
        0.5,
        0.9,
        "quiet",
        _DISTURBED,
    ),
    "gauge": Threshold(
        "a soft resource's use over its limit",
        0.8,
        1.0,
        "physics",
        "full is full; a polled gauge misses the last few",
    ),
    "gauge's waiters": Threshold(
        "requests waiting for a soft resource", 0.0, 1.0, "physics", "one is enough"
    ),
    "working": Threshold(
        "share of the connections in use that have a call under way",
        0.5,
        0.5,
        "physics",
        "where a stall below fills a pool each has one; a request keeps its own between calls, too",
    ),
    "calls longer": Threshold(
        "how many times as long as usual calls took",
        2.0,
        4.0,
        "quiet",
        "from a pool that was made smaller 0.7 to 0.9 times; where a database was held up 22 and "
        "more",
    ),
    "unaccepted": Threshold(
        "connections that wait to be accepted",
        0.0,
        3.0,
        "quiet",
        "an idle server accepts at once; two may come in one tick",
    ),
    "at work": Threshold(
        "cores used and the share of time without one", 0.8, 1.0, "physics", "one thread makes 1"
    ),
    "slow senders": Threshold(
        "requests that were being sent over the server's workers",
        0.5,
        0.9,
        "physics",
        "a worker that reads a request serves no other, and while half of them are left nobody "
        "waits for one; of all requests of 14 trials with other disturbances 6 in a trial came "
        "slowly at most",
    ),
    "queued bytes": Threshold(
        "bytes held back before a wire", 0.0, 500.0, "quiet", "a packet or two"
    ),
    "replaced": Threshold(
        "share of a server's processes that ended, others coming in their place",
        0.25,
        0.5,
        "physics",
        "who manages a pool of processes adds or ends one at a time, a restart ends all but one",
    ),
    "segments lost": Threshold(
        "segments that were sent again and had not arrived, for each visit that waited",
        0.05,
        0.3,
        "quiet",
        "each connection waits for a packet of its own: 0.4 and more where packets were lost; one "
        "or two are lost beside hundreds that wait for something else",
    ),
    "captured and lost": Threshold(
        "share of the lost segments that had been captured on their way to the server",
        0.3,
        0.6,
        "physics",
        "where its own end drops them all had been, but for a few that it sent; elsewhere none",
    ),
    "accept queue": Threshold(
        "connections that wait to be accepted over how many may",
        0.8,
        1.0,
        "physics",
        "full is full; a tick misses the last few",
    ),
    "arrived late": Threshold(
        "share of the wait that ended with an arrival", 0.5, 0.8, "physics", "most of it"
    ),
    "surge": Threshold(
        "arrivals over the usual and twice their scatter",
        2.5,
        4.0,
        "visits",
        "independent users scatter by the square root of their number",
    ),
}
"""By name; looked up whenever a cause is judged."""


def support(name: str, value: float | None) -> float | None:
    """Return how far a figure speaks for what its threshold is named after; None stays None."""
    return THRESHOLDS[name].support(value)
