"""Bring applications that others wrote, and hold what Tierlab sees of them against their own logs.

Each application is a folder of ``applications``. It is set up below ``build/third-party``, checked,
and run for seconds: by one user, so that one request is under way at a time; by several; by many,
where links can be judged then; by several with disturbances drawn from ``--seed``; and, where
requests have threads to themselves, by one user while its servers are frozen and kept from their
CPUs, and while its database is held by a lock and by a disk. What Tierlab saw of each server is
compared with the server's own log, links with the only request that was under way, and what
requests waited for with the truth and the kernel's accounts.

``--quick`` takes the two applications that need no more packages than the tests do, for a quarter
of the time, and leaves the disturbances out. Names select applications. ``--again`` judges the runs
that are there, but for those of ``--anew``, which are run. Exits 1 when anything misses its bar; a
disturbance that the diagnosis takes for another is printed and misses nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import blind
import crowding
import holding
import parts
from counting import counts, one
from declaration import Application, every
from linking import links
from preparing import BUILD, SetUpError, prepared, started
from results import Result, markdown
from running import FailedError, Tierlab

ALONE = ("load.users=1", "load.think=10ms")
SHORT = ("load.phases.ramp_up=1s", "load.phases.runtime=4s", "load.phases.ramp_down=0s")
"""For CI, which has not the time for more."""
RUNS = ("alone", "loaded", "crowded", "parts", "held", "disturbed")
CHECKED_S = 10
"""The first pages of some take seconds."""


def main() -> int:
    """Run, print the table and write the JSON; 1 when anything misses."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="applications; without any, all")
    parser.add_argument("--quick", action="store_true", help="two applications, no disturbance")
    parser.add_argument("--again", action="store_true", help="judge the runs that are there")
    parser.add_argument("--anew", action="append", choices=RUNS, default=[], help="with --again")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    known = {each.name: each for each in every()}
    if unknown := set(asked.names) - set(known):
        parser.error(f"no such application: {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = [
        each
        for each in known.values()
        if (each.name in asked.names if asked.names else each.quick or not asked.quick)
    ]
    BUILD.mkdir(parents=True, exist_ok=True)
    results = []
    for application in chosen:
        print(f"{application.name}: ", end="", file=sys.stderr, flush=True)
        result = Result(application)
        try:
            measure(result, asked)
        except (SetUpError, FailedError) as failure:
            result.failed = str(failure)
        results.append(result)
        took = sum(result.seconds.values())
        print("; ".join(result.misses()) or "as it should be", f"({took:.0f} s)", file=sys.stderr)
        keep(results, BUILD / "results.json")
    print(markdown(results))
    missed = sum(bool(each.misses()) for each in results)
    print(f"\n{len(results) - missed} passed, {missed} failed")
    return 1 if missed else 0


def keep(results: list[Result], file: Path) -> None:
    """Write what there is so far; an application that was not tried now keeps its last figures."""
    told = json.loads(file.read_text("utf-8")) if file.exists() else []
    now = {each.application.name: each.as_json() for each in results}
    before = {each["application"]: each for each in told}
    file.write_text(json.dumps(list((before | now).values()), indent=1) + "\n")


def measure(result: Result, asked: argparse.Namespace) -> None:
    """Set up, check and run one application. Raises `SetUpError` or `FailedError`."""
    quick: bool = asked.quick
    application, length = result.application, SHORT if quick else ()
    kept = frozenset({"check", *RUNS} - set(asked.anew)) if asked.again else frozenset[str]()
    with timed(result, "set-up"):
        place = prepared(application)
    command = Tierlab(place, kept)
    text = (place / "experiment.toml").read_text("utf-8")
    with nullcontext() if asked.again and not asked.anew else started(application, place):
        with timed(result, "check"):
            said = command.check(2 if quick else CHECKED_S)
        result.came_up = True
        result.notes = [line for line in said.splitlines() if line.startswith("note")]
        with timed(result, "alone"):
            run = command.trial("alone", text, *ALONE, *length)
        result.single = links(run, one_at_a_time=True)
        with timed(result, "loaded"):
            run = command.trial("loaded", text, *length)
        result.loaded = links(run, one_at_a_time=False)
        result.counts = counts(application, run)
        result.requests, result.errors = requests(run)
        result.undisturbed = blind.undisturbed(run)
        if application.crowded and not quick:
            with timed(result, "crowded"):
                run = command.trial("crowded", text, *crowding.USERS)
            result.crowd = crowding.crowd(run, *application.crowded)
        if application.parts and not quick:
            with timed(result, "parts"):
                run = command.trial("parts", text + parts.disturbances(application), *ALONE)
            result.parts = parts.appearances(application, run)
        if application.held and not quick:
            with timed(result, "held"):
                run = holding.trial(command, application, text, *ALONE)
            result.parts += holding.appearances(application, run, place / "held.json")
        if application.disturbed and not quick:
            text = seeded(text, application, asked.seed) + blind.TABLES
            with timed(result, "disturbed"):
                run = command.trial("disturbed", text, blind.LENGTH)
            result.blind = blind.judge(run)


def seeded(text: str, application: Application, seed: int) -> str:
    """Return the experiment with a seed of its own: one seed draws the same of all."""
    own = zlib.crc32(f"{application.name} {seed}".encode())
    return text.replace("[experiment]\n", f"[experiment]\nseed = {own}\n", 1)


def requests(run: Path) -> tuple[int, int]:
    """Return how many interactions there were, and how many failed before the load ended."""
    file = str(run / "requests.parquet")
    every = one("SELECT count(*) FROM read_parquet($file)", file=file)
    failed = "error IS NOT NULL AND error <> 'cut'"
    return every, one(f"SELECT count(*) FROM read_parquet($file) WHERE {failed}", file=file)


@contextmanager
def timed(result: Result, name: str) -> Iterator[None]:
    """Note how long it took."""
    began = time.monotonic()
    try:
        yield
    finally:
        result.seconds[name] = round(time.monotonic() - began, 1)


if __name__ == "__main__":
    sys.exit(main())
