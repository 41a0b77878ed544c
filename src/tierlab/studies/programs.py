"""Which programs took a domain's time?

R. NasiriGerdeh et al., "Performance Investigation of Multi-tier Web Applications in Xen
Virtualized Environment" (2017), tables 1 and 2: cycles by program in the domains of the web server
and of the database.
"""

from __future__ import annotations

from collections.abc import Sequence

from tierlab.analysis.resources.profile import profile
from tierlab.studies.cases import Cases
from tierlab.studies.measured import CaseMeasure, Measured, missing

FRONT, BACK = ("nginx", "php-fpm"), ("mariadb", "httpd-php")
"""What ran in the web server's domain, and in the database's with the geocoder."""


def _samples(cases: Cases, software: Sequence[str]) -> dict[str, int]:
    """Events of all trials by program, those of the servers of some software together."""
    found: dict[str, int] = {}
    for trial in (trial for case in cases.cases for trial in case.trials):
        for name, server in trial.manifest.servers.items():
            if server.server in software:
                for program, count in trial.programs.get(name, {}).items():
                    found[program] = found.get(program, 0) + count
    return found


def _of(found: dict[str, int], *programs: str) -> int:
    """How many a program had, by what its name begins with."""
    return sum(count for name, count in found.items() if name.startswith(programs))


def _interpreter_over_server(cases: Cases) -> Measured:
    found = _samples(cases, FRONT)
    php, server = _of(found, "php-fpm"), _of(found, "nginx")
    if not php or not server:
        return missing("no profile has both php-fpm and nginx")
    total = sum(found.values())
    return Measured(
        value=php / server,
        words=f"{php / server:.2f}: {_shares(found, total)}",
    )


def _database(cases: Cases) -> Measured:
    found = _samples(cases, BACK)
    total = sum(found.values())
    if not total:
        return missing("no profile has the database")
    share = _of(found, "mysqld", "mariadbd") / total
    return Measured(value=share, words=f"{share:.2f}: {_shares(found, total)}")


def _shares(found: dict[str, int], total: int) -> str:
    heaviest = sorted(found.items(), key=lambda each: -each[1])[:4]
    return ", ".join(f"{name} {100 * count / total:.1f} %" for name, count in heaviest)


PHP_OVER_NGINX = CaseMeasure(
    "time of php-fpm over that of nginx, in what ran in the web server's domain",
    (profile,),
    _interpreter_over_server,
)
DATABASE_SHARE = CaseMeasure(
    "the database's share of the time of what ran in its domain", (profile,), _database
)
