"""A guest's scheduler on virtual CPUs of unequal speed, which it does not know: a simulation.

Each virtual CPU is pinned to a PU of its own and has a share of it, in slices (proportional share,
as Xen's credit scheduler gives it to who always wants to run). The guest's kernel takes all of them
for equals: a process that is woken goes to the virtual CPU where it was last if that has nothing
to do, else to any that has not, else back; one that runs out of work takes a waiting process from
the longest queue, and so does, every few milliseconds, one whose queue is shorter by two. A process
that runs stays where it is, also while its virtual CPU has no PU.
"""

from __future__ import annotations

import heapq
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

SLICE_S = 0.030
"""Of Xen's credit scheduler."""
BALANCE_S = 0.010
SERVICE_S = 0.001
VARIES = 0.2
"""A request takes so much more or less of a PU's time."""
TURN_S = 0.0002
"""From an answer to the same client's next request."""
WORKERS = 16


@dataclass
class VirtualCpu:
    """One with a ``share`` of its PU: it runs for a slice of every period, from ``phase_s`` on."""

    share: float
    phase_s: float
    running: int | None = None
    waiting: deque[int] = field(default_factory=deque)

    @property
    def load(self) -> int:
        """Processes that the guest sees on it."""
        return len(self.waiting) + (self.running is not None)

    def has_pu(self, now_s: float) -> bool:
        """Whether it runs now."""
        return self.share >= 1 or (now_s - self.phase_s) % self._period_s < SLICE_S

    def end_s(self, start_s: float, work_s: float) -> float:
        """When so much work is done that begins now."""
        if self.share >= 1:
            return start_s + work_s
        into_s = (start_s - self.phase_s) % self._period_s
        if into_s >= SLICE_S:
            start_s, into_s = start_s + self._period_s - into_s, 0.0
        slices, rest_s = divmod(into_s + work_s, SLICE_S)
        return start_s - into_s + slices * self._period_s + rest_s

    @property
    def _period_s(self) -> float:
        return SLICE_S / self.share


class Guest:
    """A server of worker processes in it, which so many clients ask without a pause. ``balances``
    is whether virtual CPUs take work from each other; else a process changes its own only when it
    is woken.
    """

    def __init__(
        self, shares: Sequence[float], seed: int, clients: int = 10, *, balances: bool = True
    ) -> None:
        self._clients, self._balances = clients, balances
        self._random = random.Random(seed)
        self._cpus = [
            VirtualCpu(share, self._random.random() * SLICE_S / share) for share in shares
        ]
        self._last = [self._random.randrange(len(shares)) for _ in range(WORKERS)]
        self._idle = deque(self._random.sample(range(WORKERS), WORKERS))
        self._events: list[tuple[float, int, str]] = []
        self._done = 0

    def throughput(self, requests: int) -> float:
        """Serve so many requests; how many a second."""
        for client in range(self._clients):
            self._at(client * TURN_S / self._clients, "ask")
        if self._balances:
            self._at(BALANCE_S, "balance")
        now_s = 0.0
        while self._done < requests:
            now_s, at, what = heapq.heappop(self._events)
            if what == "ask":
                self._wake(self._idle.popleft(), now_s)
            elif what == "done":
                self._finish(at, now_s)
            else:
                self._balance(now_s)
        return self._done / now_s

    def _at(self, time_s: float, what: str, at: int = 0) -> None:
        heapq.heappush(self._events, (time_s, at, what))

    def _wake(self, worker: int, now_s: float) -> None:
        at = self._last[worker]
        if self._cpus[at].load:
            free = [other for other, cpu in enumerate(self._cpus) if not cpu.load]
            at = self._random.choice(free) if free else at
        self._put(worker, at, now_s)

    def _put(self, worker: int, at: int, now_s: float) -> None:
        cpu = self._cpus[at]
        self._last[worker] = at
        if cpu.running is not None:
            cpu.waiting.append(worker)
            return
        cpu.running = worker
        work_s = SERVICE_S * self._random.uniform(1 - VARIES, 1 + VARIES)
        self._at(cpu.end_s(now_s, work_s), "done", at)

    def _finish(self, at: int, now_s: float) -> None:
        cpu = self._cpus[at]
        assert cpu.running is not None
        self._idle.append(cpu.running)
        cpu.running = None
        self._done += 1
        self._at(now_s + TURN_S, "ask")
        if cpu.waiting:
            self._put(cpu.waiting.popleft(), at, now_s)
        elif self._balances:
            self._pull(at, now_s, more_by=1)

    def _balance(self, now_s: float) -> None:
        for at, cpu in enumerate(self._cpus):
            if cpu.has_pu(now_s):
                self._pull(at, now_s, more_by=2)
        self._at(now_s + BALANCE_S, "balance")

    def _pull(self, at: int, now_s: float, more_by: int) -> None:
        """Take a waiting process from the longest queue."""
        longest = max(self._cpus, key=lambda each: len(each.waiting))
        if longest.waiting and longest.load >= self._cpus[at].load + more_by:
            self._put(longest.waiting.popleft(), at, now_s)
