"""A mixed load: bursts of 1 to 60 ms with pauses between, on each core and wandering.

``mixed_load.py SECONDS SEED``
"""

from __future__ import annotations

import os
import random
import sys
import time
from multiprocessing import Process

BURSTS_S = (0.001, 0.005, 0.02, 0.06)
PAUSES_S = (0.001, 0.01, 0.04)


def bursts(seed: str, core: int | None, seconds: float) -> None:
    if core is not None:
        os.sched_setaffinity(0, {core})
    chance = random.Random(seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        until = time.monotonic() + chance.expovariate(1 / chance.choice(BURSTS_S))
        while time.monotonic() < until:
            pass
        time.sleep(chance.expovariate(1 / chance.choice(PAUSES_S)))


def main() -> None:
    seconds, seed = float(sys.argv[1]), sys.argv[2]
    places = [*sorted(os.sched_getaffinity(0)), None]
    processes = [
        Process(target=bursts, args=(f"{seed} {place}", place, seconds)) for place in places
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


if __name__ == "__main__":
    main()
