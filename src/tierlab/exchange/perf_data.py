"""What perf(1) has recorded, read by perf itself, which alone knows the form of its files and finds
the symbols; or the text that ``perf script`` has made of it elsewhere.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path

from tierlab.errors import UserError
from tierlab.exchange.perf_file import recording_in
from tierlab.exchange.perf_script import Damage, Record, Sample, Unread, records
from tierlab.exchange.perf_text import printed

PROGRAMS = {"perf": "linux-perf"}
"""With the Debian package that brings it."""

GUESTS_TOO = ("--guestmodules", os.devnull)
"""Without a word of guests, `perf script` leaves out what was sampled in them and says nothing."""

OF_GUESTS = ("machine_pid", "vcpu")
"""Fields that perf has from 6.0 on. An older one refuses them, and tells no guests apart."""
FIELDS = (
    *("comm", "pid", "tid", "cpu", "time", "event", "period", "ip", "sym", "dso"),
    *OF_GUESTS,
)
NEEDED = {
    "time": "times: record with `perf record -T`",
    "pid": "process numbers: record with `perf record`'s usual options",
}
"""Fields without which nothing can be done, and what to do."""
_NO_FIELD = re.compile(r"Cannot print '(\w+)' field")
_UNKNOWN_FIELD = "Invalid field requested"
_CUT = "unexpected end of event stream"


def read_perf(file: Path) -> Iterator[Record]:
    """The records of a file or folder that ``perf record`` or ``perf script`` has written.

    Raises :class:`UserError` when it is neither, is not whole, or perf cannot read it.
    """
    with tempfile.TemporaryDirectory(prefix="tierlab-perf-") as room:
        recording = recording_in(file, Path(room))
        yield from printed(file) if recording is None else _recorded(recording, file)


def _recorded(
    recording: Path, named: Path, fields: Sequence[str] = FIELDS
) -> Generator[Record, None, None]:
    """What perf prints of a recording, which is asked twice: of a sample whose stack it cannot
    follow it prints not even the function when it is to print stacks.
    """
    flat = _perf_script(recording, named, fields, "--hide-call-graph")
    deep = _perf_script(recording, named, fields)
    try:
        for record, same in _pairs(flat, deep):
            if isinstance(record, Sample) and isinstance(same, Sample) and same.frames:
                yield same
            else:
                yield record
    except _NoFieldError as error:
        lacking = [each for each in error.fields if each in NEEDED]
        if lacking:
            raise UserError(f"{named} has no {NEEDED[lacking[0]]}.") from None
        rest = [each for each in fields if each not in error.fields]
        yield from _recorded(recording, named, rest)
    finally:
        flat.close()
        deep.close()


def _pairs(flat: Iterable[Record], deep: Iterable[Record]) -> Iterator[tuple[Record, Record]]:
    """Return what is the same of both; what is not understood of the one is left out."""
    unread: list[Unread] = []

    def known(found: Iterable[Record], *, kept: bool) -> Iterator[Record]:
        for each in found:
            if not isinstance(each, Unread):
                yield each
            elif kept:
                unread.append(each)

    for pair in zip(known(flat, kept=False), known(deep, kept=True), strict=True):
        yield pair
        while unread:
            each = unread.pop()
            yield each, each
    for each in unread:
        yield each, each


class _NoFieldError(Exception):
    """The recording does not have these fields that were asked for, or perf does not know them."""

    def __init__(self, *fields: str) -> None:
        super().__init__(*fields)
        self.fields = fields


def _perf_script(
    recording: Path, named: Path, fields: Sequence[str], *options: str
) -> Generator[Record, None, None]:
    """Run `perf script`; closing the generator ends it."""
    argv = [
        *("perf", "script", "--input", str(recording), "--force", "--header", "--ns"),
        *("--no-inline", "--show-task-events", "--show-lost-events", "--fields", ",".join(fields)),
        *(*GUESTS_TOO, *options),
    ]
    with tempfile.TemporaryFile() as errors:
        try:
            perf = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                errors="replace",
                env=os.environ | {"LC_ALL": "C", "PAGER": "cat"},
            )
        except FileNotFoundError:
            raise UserError(
                f"{named} is read by the program 'perf', which is missing; install it with"
                f" 'apt-get install {PROGRAMS['perf']}'."
            ) from None
        with perf:
            assert perf.stdout is not None
            yield from records(perf.stdout)
        errors.seek(0)
        said = errors.read().decode(errors="replace")
    missing = _NO_FIELD.search(said)
    if missing is not None and missing[1] in fields:
        raise _NoFieldError(missing[1])
    if _UNKNOWN_FIELD in said and set(OF_GUESTS) & set(fields):
        raise _NoFieldError(*OF_GUESTS)
    if perf.returncode:
        last = (said.strip().splitlines() or [_silent_end(perf.returncode)])[-1]
        raise UserError(
            f"`perf script` cannot read {named} ({last}): if it is whole, record it anew."
        )
    if _CUT in said:
        yield Damage("ends too early, as a file that was cut")


def _silent_end(status: int) -> str:
    return f"signal {-status} ended it" if status < 0 else "it gave no reason"
