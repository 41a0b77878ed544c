"""Wrong values of an experiment file, each with the sentence that it has to give."""

from __future__ import annotations

import copy
from typing import Any

GOOD: dict[str, Any] = {
    "experiment": {"name": "e"},
    "system": {"workload": "rubbos"},
    "load": {"users": 10},
}
TABLES = "experiment, system, load, observe, factors, objective, disturb, change"
LOAD = (
    "users, rate, speed, arrivals, mix, think, cycle, start, connection, images, timeouts, phases,"
    " shape"
)
TOMCAT = "threads, accept_count, max_connections, pool, pool_timeout"
MIXES = (
    '"browse-only", "browse-only-no-search", "user", "user-no-search", "author", "read-write", '
    '"read-write-no-search", "browsing", "bidding", "cloudstone", "all", "pipeline", '
    '"data-parallel", "barriers", "many-locks", "memory-streams", "all-drawn", "q3" or "q3-drawn"'
)
UNITS = "(units: ns, us, ms, s, m, h)"
SIZES = "(units: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)"
NAME = 'up to 64 letters, digits, ".", "_" and "-", the first a letter or a digit'
FACTOR = (
    "a factor is a dotted key of system, load, observe, "
    'such as "load.users" or "system.app.soft.threads"'
)

CASES: list[tuple[str, Any, str]] = [
    # unknown keys
    ("lod", {}, f"lod is not a known key (did you mean load?); allowed here: {TABLES}"),
    ("load.userz", 3, f"load.userz is not a known key (did you mean users?); allowed here: {LOAD}"),
    ("load.x y", 3, f'load."x y" is not a known key; allowed here: {LOAD}'),
    (
        "load.phases.warmup",
        "1s",
        "load.phases.warmup is not a known key (did you mean ramp_up?); "
        "allowed here: ramp_up, runtime, ramp_down",
    ),
    (
        "system.app.soft.thread",
        3,
        "system.app.soft.thread is not a known key (did you mean threads?); "
        f"allowed here: {TOMCAT}",
    ),
    (
        "system.db.mpm",
        "event",
        "system.db.mpm is not a known key; allowed here: "
        "server, count, memory, mapping, disk, soft",
    ),
    # missing
    ("experiment.name", None, "experiment.name is missing"),
    ("system", None, "system is missing"),
    ("system.workload", None, "system.workload is missing"),
    ("load.users", None, "load needs either users (closed loop) or rate (open loop)"),
    # wrong types
    ("load", 5, f"load must be a table (keys: {LOAD}), not 5"),
    ("system.app.soft", 3, f"system.app.soft must be a table (keys: {TOMCAT}), not 3"),
    ("load.users", "many", 'load.users must be a whole number from 1 to 1000000, not "many"'),
    ("load.users", 1.5, "load.users must be a whole number from 1 to 1000000, not 1.5"),
    ("load.users", True, "load.users must be a whole number from 1 to 1000000, not true"),
    ("load.images", "yes", 'load.images must be true or false, not "yes"'),
    ("experiment.name", 7, f"experiment.name must be {NAME}, not 7"),
    ("experiment.name", "../../etc", f'experiment.name must be {NAME}, not "../../etc"'),
    ("experiment.name", "", f'experiment.name must be {NAME}, not ""'),
    (
        "system.db.mapping.pus",
        [0, 0],
        "system.db.mapping.pus must be a list of different whole "
        "numbers from 0 to 4095, not [0, 0]",
    ),
    (
        "system.db.mapping.pus",
        0,
        "system.db.mapping.pus must be a list of different whole numbers from 0 to 4095, not 0",
    ),
    # out of range
    ("load.users", 0, "load.users must be a whole number from 1 to 1000000, not 0"),
    ("load.users", -3, "load.users must be a whole number from 1 to 1000000, not -3"),
    ("experiment.seed", -1, "experiment.seed must be a whole number from 0 to 4294967295, not -1"),
    ("system.db.count", 0, "system.db.count must be a whole number from 1 to 4, not 0"),
    ("system.db.count", 5, "system.db.count must be a whole number from 1 to 4, not 5"),
    ("system.web.count", 9, "system.web.count must be a whole number from 1 to 8, not 9"),
    ("system.lb.count", 2, "system.lb.count must be 1, not 2"),
    ("system.scale", 0, "system.scale must be a number from 0.0005 to 10, not 0"),
    ("system.scale", float("nan"), "system.scale must be a number from 0.0005 to 10, not NaN"),
    (
        "system.scale",
        10**400,
        "system.scale must be a number from 0.0005 to 10, not " + "1" + 56 * "0" + "...",
    ),
    # durations and sizes
    ("load.think", 7, f'load.think must be a duration from "0s" to "1h" {UNITS}, not 7'),
    ("load.think", "7", f'load.think must be a duration from "0s" to "1h" {UNITS}, not "7"'),
    ("load.think", "-7s", f'load.think must be a duration from "0s" to "1h" {UNITS}, not "-7s"'),
    (
        "load.think",
        "7 sec",
        f'load.think must be a duration from "0s" to "1h" {UNITS}, not "7 sec"',
    ),
    (
        "load.think",
        "\u0667s",
        f'load.think must be a duration from "0s" to "1h" {UNITS}, not "\u0667s"',
    ),
    (
        "load.phases.runtime",
        "0s",
        f'load.phases.runtime must be a duration from "1s" to "24h" {UNITS}, not "0s"',
    ),
    (
        "observe.interval",
        "0ms",
        f'observe.interval must be a duration from "10ms" to "10s" {UNITS}, not "0ms"',
    ),
    (
        "observe.interval",
        "9.999ms",
        f'observe.interval must be a duration from "10ms" to "10s" {UNITS}, not "9.999ms"',
    ),
    (
        "system.web.soft.keep_alive_timeout",
        "1.5s",
        "system.web.soft.keep_alive_timeout must be "
        f'a duration from "1s" to "1h" in steps of "1s" {UNITS}, not "1.5s"',
    ),
    (
        "system.db.memory",
        "2GX",
        f'system.db.memory must be a size from "16MiB" to "64TiB" {SIZES}, not "2GX"',
    ),
    (
        "system.db.memory",
        "1MiB",
        f'system.db.memory must be a size from "16MiB" to "64TiB" {SIZES}, not "1MiB"',
    ),
    # words
    (
        "load.mix",
        "readwrite",
        f'load.mix must be {MIXES}, not "readwrite" (did you mean read-write?)',
    ),
    (
        "system.environment",
        "kvm",
        'system.environment must be "native", "host", "podman", "docker", "lxc", "qemu", "xen"'
        ' or "vsphere", not "kvm"',
    ),
    (
        "system.workload",
        "rubos",
        'system.workload must be "rubbos", "rubis", "olio", "static", "kernels", "tpch" or'
        ' "own", not "rubos" (did you mean rubbos?)',
    ),
    (
        "system.db.server",
        "mysql",
        'system.db.server must be "mariadb" or "postgresql", not "mysql"',
    ),
    ("system.web.mpm", "worker", 'system.web.mpm must be "event" or "prefork", not "worker"'),
    (
        "observe.samplers",
        ["cpu", "gpu"],
        'observe.samplers must be "all", "none" or a list out of '
        "cpu, memory, disk, net, tcp, listen, pressure, process, domain, database, cache, "
        'not ["cpu", "gpu"]',
    ),
    (
        "observe.samplers",
        [{}],
        'observe.samplers must be "all", "none" or a list out of '
        "cpu, memory, disk, net, tcp, listen, pressure, process, domain, database, cache, not [{}]",
    ),
    # what does not go together
    (
        "system",
        {"workload": "rubbos", "mapping": "one-package", "place": "pu:0"},
        "system.place is said by `system.mapping` too; keep one",
    ),
    ("load.rate", 5.0, "load has both users (closed loop) and rate (open loop); keep one of them"),
    (
        "load",
        {"users": 5, "think": "1s", "cycle": "1s"},
        "load.cycle goes without think; keep one of them",
    ),
    (
        "load.arrivals",
        "constant",
        "load.arrivals goes with rate, not with users; remove one of them",
    ),
    (
        "system.web.soft.threads_per_process",
        100,
        "system.web.soft.threads_per_process must divide threads (256), not 100",
    ),
    (
        "system.web.soft.threads",
        251,
        "system.web.soft.threads cannot be 251: event's processes of at most 64 threads would have "
        "1 each; take 250 or 252, or set threads_per_process",
    ),
    # factors
    (
        "factors",
        {"load.usrs": [1]},
        'factors."load.usrs" is not a key that can be crossed '
        f"(did you mean load.users?); {FACTOR}",
    ),
    (
        "factors",
        {"experiment.seed": [1]},
        f'factors."experiment.seed" is not a key that can be crossed; {FACTOR}',
    ),
    ("factors", {"load.users": 5}, 'factors."load.users" must be a list of levels, not 5'),
    ("factors", {"load.users": []}, 'factors."load.users" must be a list of levels, not []'),
    ("factors", {"load.users": [3, 3]}, 'factors."load.users" lists a level twice: [3, 3]'),
    (
        "factors",
        {"load": {"users": [3]}, "load.users": [4]},
        'factors."load.users" is given twice, quoted and unquoted',
    ),
    ("factors", {"repeat": 0}, "factors.repeat must be a whole number from 1 to 1000, not 0"),
    (
        "factors",
        {"order": "shuffled"},
        'factors.order must be "stated" or "random", not "shuffled"',
    ),
    ("factors", [], "factors must be a table (keys: repeat, order), not []"),
    # objective
    ("objective.p99", 5, f'objective.p99 must be a duration from "1us" to "1h" {UNITS}, not 5'),
    ("objective.errors", 2, "objective.errors must be a number from 0 to 1, not 2"),
]


def changed(key: str, value: Any) -> dict[str, Any]:
    """The good file with one key set, or removed where the value is None."""
    document = copy.deepcopy(GOOD)
    *above, last = key.split(".")
    table = document
    for part in above:
        table = table.setdefault(part, {})
    if value is None:
        del table[last]
    else:
        table[last] = value
    return document
