"""Are the programs there that a run starts?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tierlab.machine.check import Check, Verdict
from tierlab.machine.programs import Program

GROUP = "programs"


def checks(programs: Iterable[Program]) -> Iterator[Check]:
    """A check for each program that was looked up."""
    for program in programs:
        if program.path is None:
            yield Check(
                GROUP,
                program.name,
                Verdict.MISSING,
                "not found",
                "every run",
                f"apt-get install --no-install-recommends {program.package}",
                needed=True,
            )
            continue
        packaged = (
            f" ({program.package} {program.package_version})" if program.package_version else ""
        )
        seen = f"{program.version or 'version not told'}{packaged}"
        yield Check(GROUP, program.name, Verdict.WORKS, seen, needed=True)
