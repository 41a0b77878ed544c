"""Orders to the application server about its soft resources, over its UNIX socket.

An order is a line, and so is its answer: ``ok NUMBER`` or ``error SENTENCE``.
"""

from __future__ import annotations

import socket
from pathlib import Path

from tierlab.errors import UserError

SECONDS = 5.0


def resized(path: Path, subject: str, resource: str, limit: int) -> int:
    """Give a soft resource another limit, for good; return the limit then in force.

    `UserError` in the application's own words if it refuses.
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.settimeout(SECONDS)
            link.connect(str(path))
            with link.makefile("rw", encoding="ascii") as lines:
                answers = []
                for order in (f"set {resource} {limit}", "keep", f"get {resource}"):
                    lines.write(f"{order}\n")
                    lines.flush()
                    answers.append(_number(subject, order, lines.readline()))
                return answers[-1]
    except OSError as error:
        raise UserError(
            f"{subject}: takes no order to resize {resource} ({error.strerror or error});"
            " see its log for why."
        ) from error


def _number(subject: str, order: str, answer: str) -> int:
    kind, _, rest = answer.strip().partition(" ")
    if kind != "ok":
        raise UserError(f"{subject}: refuses '{order}': {rest or 'no answer'}.")
    return int(rest)
