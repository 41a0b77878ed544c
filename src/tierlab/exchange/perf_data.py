"""What perf(1) has recorded, read by perf itself, which alone knows the form of its files and finds
the symbols; or the text that ``perf script`` has made of it elsewhere.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

from tierlab.errors import UserError
from tierlab.exchange.perf_script import Record, Sample, records

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
_MAGIC = b"PERFILE2"
_NO_FIELD = re.compile(r"Cannot print '(\w+)' field")
_UNKNOWN_FIELD = "Invalid field requested"


def read_perf(file: Path) -> Iterator[Record]:
    """The records of a file that ``perf record`` or ``perf script`` has written.

    Raises :class:`UserError` when it is neither, or perf cannot read it.
    """
    try:
        with file.open("rb") as opened:
            is_recording = opened.read(len(_MAGIC)) == _MAGIC
    except OSError as error:
        raise UserError(f"{file} cannot be read ({error.strerror}): name another file.") from error
    yield from _recorded(file) if is_recording else _printed(file)


def _printed(file: Path) -> Iterator[Record]:
    any_sample = False
    with file.open(encoding="utf-8", errors="replace") as lines:
        for record in records(lines):
            any_sample |= isinstance(record, Sample)
            yield record
    if not any_sample:
        raise UserError(
            f"{file} is neither a recording of perf's nor has it a sample as `perf script` prints"
            " them: name a perf.data, or what `perf script --header --ns --no-inline` has printed."
        )


def _recorded(file: Path, fields: Sequence[str] = FIELDS) -> Generator[Record, None, None]:
    """What perf prints of a recording, which is asked twice: of a sample whose stack it cannot
    follow it prints not even the function when it is to print stacks.
    """
    flat = _perf_script(file, fields, "--hide-call-graph")
    deep = _perf_script(file, fields)
    try:
        for record, same in zip(flat, deep, strict=True):
            if isinstance(record, Sample) and isinstance(same, Sample) and same.frames:
                yield same
            else:
                yield record
    except _NoFieldError as error:
        yield from _recorded(file, [each for each in fields if each not in error.fields])
    finally:
        flat.close()
        deep.close()


class _NoFieldError(Exception):
    """The recording does not have these fields that were asked for, or perf does not know them."""

    def __init__(self, *fields: str) -> None:
        super().__init__(*fields)
        self.fields = fields


def _perf_script(file: Path, fields: Sequence[str], *options: str) -> Generator[Record, None, None]:
    """Run `perf script`; closing the generator ends it."""
    argv = [
        *("perf", "script", "--input", str(file), "--force", "--header", "--ns", "--no-inline"),
        *("--show-task-events", "--show-lost-events", "--fields", ",".join(fields)),
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
                f"{file} is read by the program 'perf', which is missing; install it with"
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
        last = (said.strip().splitlines() or ["it said nothing"])[-1]
        raise UserError(f"`perf script` cannot read {file} ({last}): record it anew.")
