"""The lines of a file that may be compressed or written in another encoding than UTF-8."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

from tierlab.errors import UserError
from tierlab.exchange.compressed import READ_ERRORS, START, damage, other_form, unpacked

_HEAD = 4096
_TAR_AT = 257
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class LogFile:
    """The lines of a file; whether a file was whole is known after the last one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.damage: str | None = None
        """Why the file could not be read to its end."""

    def lines(self) -> Iterator[str]:
        """Yield the lines without their ends; `UserError` where the file cannot be read. A
        compressed file that is cut short is read as far as it goes.
        """
        try:
            with self._path.open("rb") as raw:
                yield from self._lines(raw)
        except OSError as error:
            reason = error.strerror or str(error)
            raise UserError(f"{self._path}: cannot be read: {reason}.") from None

    def _lines(self, raw: io.BufferedReader) -> Iterator[str]:
        form = other_form(raw.read(START))
        raw.seek(0)
        if form is not None:
            raise UserError(
                f"{self._path}: is {form.what}; unpack it, or compress it with gzip, bzip2 or xz."
            )
        binary = unpacked(raw) or raw
        try:
            head = binary.read(_HEAD)
            if head[_TAR_AT : _TAR_AT + 5] == b"ustar":
                raise UserError(f"{self._path}: is a tar archive; unpack it and name its log.")
            binary.seek(0)
            for line in io.TextIOWrapper(binary, encoding=_encoding(head), errors="replace"):
                plain = line.strip("\0\r\n\ufeff")
                yield _COLOUR.sub("", plain) if "\x1b" in plain else plain
        except READ_ERRORS as error:
            self.damage = damage(error)
            if self.damage is None:
                raise


def _encoding(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if head.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    # Without a mark: text in Latin letters has a zero in every second place.
    half = len(head) // 2
    if half and head[1::2].count(0) > half * 0.8 and head[::2].count(0) < half * 0.2:
        return "utf-16-le"
    if half and head[::2].count(0) > half * 0.8 and head[1::2].count(0) < half * 0.2:
        return "utf-16-be"
    return "utf-8"
