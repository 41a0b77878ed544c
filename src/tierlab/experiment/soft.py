"""A tier's `soft` table: checked against the table of soft resources and completed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import PydanticCustomError

from tierlab.experiment.problem import problem, raise_all, shown, unknown_key
from tierlab.experiment.soft_resources import SOFT_RESOURCES, SoftResource

MOST_THREADS_PER_PROCESS = 64
"""httpd's own ThreadLimit, unless it is raised."""
FEWEST_THREADS_PER_PROCESS = 8
"""With fewer, event's processes are so many that it is another process model."""


def checked_soft(server: str, given: object) -> dict[str, int]:
    """What the file sets, in counts, bytes and nanoseconds."""
    resources = SOFT_RESOURCES[server]
    if not isinstance(given, dict):
        raise problem(f"must be a table (keys: {', '.join(resources)}), not {shown(given)}")
    raise_all(_problems(given, resources))
    return {name: int(resources[name].kind.check(value)) for name, value in given.items()}


def _problems(
    given: Mapping[str, object], resources: Mapping[str, SoftResource]
) -> Iterator[PydanticCustomError]:
    for name, value in given.items():
        if name not in resources:
            yield unknown_key(name, resources)
            continue
        kind = resources[name].kind
        try:
            kind.check(value)
        except ValueError:
            yield problem(f"must be {kind.words()}, not {shown(value)}", name)


def completed_soft(server: str, given: Mapping[str, int], processes_only: bool) -> dict[str, int]:
    """Every soft resource of the server: as given, by default, or derived from the others.

    `processes_only`: httpd's prefork, with one thread in each process.
    """
    soft: dict[str, int] = {}
    for name, resource in SOFT_RESOURCES[server].items():
        value = given.get(name, resource.default)
        soft[name] = _derived(name, soft, processes_only) if value is None else value
    if server == "httpd":
        _check_httpd(soft, processes_only)
    return soft


def _derived(name: str, soft: Mapping[str, int], processes_only: bool) -> int:
    match name:
        case "threads_per_process":
            return 1 if processes_only else _even_share(soft["threads"])
        case "pool":
            return soft["threads_per_process"]
    raise AssertionError(f"{name} has neither a default nor a rule")


def _even_share(threads: int) -> int:
    """Threads in each process, so that all processes have the same number."""
    share = largest_divisor(threads, MOST_THREADS_PER_PROCESS)
    if share == threads or share >= FEWEST_THREADS_PER_PROCESS:
        return share
    below = next(n for n in range(threads, 0, -1) if _shares_out(n))
    above = next(n for n in itertools.count(threads) if _shares_out(n))
    raise problem(
        f"cannot be {threads}: event's processes of at most {MOST_THREADS_PER_PROCESS} threads"
        f" would have {share} each; take {below} or {above}, or set threads_per_process",
        "threads",
    )


def _shares_out(threads: int) -> bool:
    return largest_divisor(threads, MOST_THREADS_PER_PROCESS) >= FEWEST_THREADS_PER_PROCESS


def _check_httpd(soft: Mapping[str, int], processes_only: bool) -> None:
    """MaxRequestWorkers is a number of whole processes; httpd would lower it in silence."""
    threads, each = soft["threads"], soft["threads_per_process"]
    if processes_only and each != 1:
        raise problem(f'must be 1 with mpm = "prefork", not {each}', "threads_per_process")
    if threads % each:
        raise problem(f"must divide threads ({threads}), not {each}", "threads_per_process")


def largest_divisor(number: int, most: int) -> int:
    """The largest divisor of `number` that is at most `most`."""
    return next(d for d in range(min(number, most), 0, -1) if number % d == 0)


def written_soft(server: str, soft: Mapping[str, int]) -> dict[str, Any]:
    """The table as a file holds it."""
    return {name: SOFT_RESOURCES[server][name].kind.write(v) for name, v in soft.items()}
