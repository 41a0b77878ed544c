"""What did users notice of a server's move to another host?"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ValidationError

from tierlab.analysis.query import Connection, row
from tierlab.analysis.result import Result

AFTERWARDS_NS = 1_000_000_000
"""After the move, in which a lost request is still counted as lost by it."""


class Migration(Result):
    """A move that took ``took_s``. The server stood still for ``downtime_s`` by its hypervisor's
    word, None if that has none; seen from where the users are, its host was asked for echoes every
    10 ms and gave none for ``silence_s``, the longest such time, and for ``usual_silence_s``
    before; ``echoes_lost`` were never answered.

    Of all users' requests ``in_progress`` overlap that silence: the slowest took ``slowest_s`` and
    ``lost`` of them ended in an error. ``lost_beyond`` are others that did, between the start of
    the move and a second after it.
    """

    took_s: float
    downtime_s: float | None
    copied_bytes: int | None
    silence_s: float
    usual_silence_s: float
    echoes_lost: int
    in_progress: int
    slowest_s: float | None
    lost: int
    lost_beyond: int


class _Silence(BaseModel):
    start_ns: int
    duration_ns: int


class _Written(BaseModel):
    """What the trial wrote down of it."""

    start_ns: int
    duration_ns: int
    silence: _Silence
    usual_silence_ns: int
    echoes_lost: int
    downtime_ns: int | None
    copied_bytes: int | None


def migration(db: Connection, written: Any) -> Migration | None:
    """What a change's detail says of a move, with its requests; None if it says nothing of one."""
    try:
        move = _Written.model_validate(written)
    except ValidationError:
        return None
    seen = row(
        db,
        """SELECT count(*) FILTER (silent) AS in_progress,
            max(end_ns - start_ns) FILTER (silent) / 1e9 AS slowest_s,
            count(*) FILTER (silent AND error IS NOT NULL) AS lost,
            count(*) FILTER (NOT silent AND error IS NOT NULL) AS lost_beyond
        FROM (SELECT *, start_ns < $back AND end_ns > $gone AS silent FROM requests
            WHERE start_ns < $end AND end_ns > $start)""",
        {
            "gone": move.silence.start_ns,
            "back": move.silence.start_ns + move.silence.duration_ns,
            "start": move.start_ns,
            "end": move.start_ns + move.duration_ns + AFTERWARDS_NS,
        },
    )
    return Migration(
        took_s=move.duration_ns / 1e9,
        downtime_s=None if move.downtime_ns is None else move.downtime_ns / 1e9,
        copied_bytes=move.copied_bytes,
        silence_s=move.silence.duration_ns / 1e9,
        usual_silence_s=move.usual_silence_ns / 1e9,
        echoes_lost=move.echoes_lost,
        **seen,
    )
