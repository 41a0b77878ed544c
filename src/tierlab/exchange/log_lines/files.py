"""The lines of a file that may be compressed or written in another encoding than UTF-8."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from tierlab.errors import UserError

_GZIP, _BZIP2, _XZ = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00"
_REFUSED = {
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"PK\x03\x04": "a zip archive",
    b"\x04\x22\x4d\x18": "compressed with lz4",
    b"7z\xbc\xaf": "a 7z archive",
    b"\x1f\x9d": "compressed with compress",
    b"Rar!": "a rar archive",
}
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

    def _lines(self, raw: IO[bytes]) -> Iterator[str]:
        start = raw.read(_HEAD)
        raw.seek(0)
        for magic, what in _REFUSED.items():
            if start.startswith(magic):
                raise UserError(
                    f"{self._path}: is {what}; unpack it, or compress it with gzip, bzip2 or xz."
                )
        binary = _unpacked(raw, start)
        try:
            head = binary.read(_HEAD)
            if head[_TAR_AT : _TAR_AT + 5] == b"ustar":
                raise UserError(f"{self._path}: is a tar archive; unpack it and name its log.")
            binary.seek(0)
            text = io.TextIOWrapper(
                io.BufferedReader(binary) if isinstance(binary, io.RawIOBase) else binary,
                encoding=_encoding(head),
                errors="replace",
            )
            for line in text:
                plain = line.strip("\0\r\n\ufeff")
                yield _COLOUR.sub("", plain) if "\x1b" in plain else plain
        except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
            self.damage = str(error).rstrip(".") or "it ends too early"
        except OSError as error:
            if error.errno is not None:
                raise
            self.damage = str(error)


def _unpacked(raw: IO[bytes], start: bytes) -> IO[bytes]:
    if start.startswith(_GZIP):
        return gzip.open(raw)  # type: ignore[return-value]
    if start.startswith(_BZIP2):
        return bz2.open(raw)
    if start.startswith(_XZ):
        return lzma.open(raw)
    return raw


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
