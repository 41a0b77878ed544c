"""How fast this machine is now, by which tests scale what they allow for things to take.

The machine is shared: half of each core may be another's at the moment. What takes longer than a
bound says nothing then, unless the bound grows as the machine slows down.
"""

from __future__ import annotations

import time
from collections.abc import Callable

STEPS = 4_000_000
USUAL_S = 0.1
"""What counting so far takes on the machine that the bounds are from, when it is quiet."""


def pace() -> float:
    """How many times longer than there a computation takes here and now; at least 1.

    It is long enough that what others take of the cores meanwhile counts.
    """
    began = time.monotonic()
    for _ in range(STEPS):
        pass
    return max(1.0, (time.monotonic() - began) / USUAL_S)


def wait_until(
    condition: Callable[[], object], what: str, seconds: float = 10.0, nap: float = 0.02
) -> None:
    """Look every `nap` seconds whether something is so, and fail when it does not come about.

    `seconds` are those of a quiet machine: how slow this one is, is measured once they are over.
    """
    began, allowed = time.monotonic(), seconds
    while not condition():
        if time.monotonic() - began > allowed:
            allowed = max(allowed, seconds * pace())
            waited = time.monotonic() - began
            assert waited < allowed, f"{what} did not come about in {waited:.1f} s"
        time.sleep(nap)
