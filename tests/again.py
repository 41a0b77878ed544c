"""Run pytest with these arguments; what fails is run again alone, at most twice.

The machine is shared: where a core is taken away for a second, a test may fail although nothing is
wrong. What fails three times, each time in a process of its own, fails. A pytest that could not do
its work is not run again: what it had not come to would count as passed.

    python tests/again.py [ARGUMENT...]
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

AGAIN = 2
FAILED = 1
"""pytest's exit status when it did its work and tests failed."""
ALONE = ("--last-failed", "--last-failed-no-failures", "none", "--numprocesses", "0")


def pytest(*arguments: str) -> int:
    """Run pytest in a process of its own; returns its exit status."""
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], check=False).returncode


def failed() -> set[str]:
    """What failed when it was run last."""
    cache = Path(".pytest_cache/v/cache/lastfailed")
    return set(json.loads(cache.read_text())) if cache.exists() else set()


def main(arguments: list[str]) -> int:
    """Returns the exit status of the last pytest."""
    # Else what failed on another day would be run again too.
    status = pytest(*arguments, "--cache-clear")
    if status != FAILED:
        return status
    at_first = failed()
    for time in range(1, AGAIN + 1):
        print(f"tests: {len(failed())} failed and run again alone, {time} of {AGAIN}", flush=True)
        status = pytest(*arguments, *ALONE)
        if status != FAILED:
            break
    print(f"tests: of all, {len(at_first)} failed at first:")
    for name in sorted(at_first):
        print(f"  {name}: {'failed again' if name in failed() else 'passed when run again alone'}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
