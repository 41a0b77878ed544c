"""The root-cause classes that Tierlab knows."""

from tierlab.diagnosis.cause import Cause
from tierlab.diagnosis.causes import (
    burst,
    checkpoint,
    cold_cache,
    collection,
    cpu,
    disk,
    freeze,
    lock,
    loss,
    memory,
    network,
    overload,
    pool,
    quota,
    restart,
    slow_clients,
    steal,
    weight,
)

CATALOGUE: tuple[Cause, ...] = (
    burst.CAUSE,
    checkpoint.CAUSE,
    cold_cache.CAUSE,
    collection.CAUSE,
    cpu.CAUSE,
    disk.CAUSE,
    freeze.CAUSE,
    lock.CAUSE,
    loss.CAUSE,
    memory.CAUSE,
    network.CAUSE,
    overload.CAUSE,
    pool.CAUSE,
    quota.CAUSE,
    restart.CAUSE,
    slow_clients.CAUSE,
    steal.CAUSE,
    weight.CAUSE,
)
