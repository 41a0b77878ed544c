"""Compressed files as users bring them: gzip, bzip2 and xz are unpacked, others are named.

A file is known by its first bytes, not by its name.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO

Unpacked = gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile
START = 8
"""So many bytes at the start of a file tell what it is."""
READ_ERRORS = (EOFError, OSError, lzma.LZMAError, zlib.error)
"""What reading an `Unpacked` file raises; see `damage`."""
_UNPACKERS: Mapping[bytes, Callable[[IO[bytes]], Unpacked]] = {
    b"\x1f\x8b": lambda raw: gzip.GzipFile(fileobj=raw),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
}


@dataclass(frozen=True)
class OtherForm:
    """A compression or an archive that Tierlab does not unpack."""

    what: str
    """How a sentence names such a file."""
    command: str | None = None
    """The command that unpacks it, where the file is compressed; None for an archive."""


ZIP = OtherForm("a zip archive")
_OTHERS: Mapping[bytes, OtherForm] = {
    b"PK\x03\x04": ZIP,
    b"\x28\xb5\x2f\xfd": OtherForm("compressed by zstd", "zstd -d"),
    b"\x04\x22\x4d\x18": OtherForm("compressed by lz4", "lz4 -d"),
    b"\x1f\x9d": OtherForm("compressed by compress", "uncompress"),
    b"7z\xbc\xaf": OtherForm("a 7-Zip archive"),
    b"Rar!": OtherForm("a rar archive"),
}


def other_form(start: bytes) -> OtherForm | None:
    """Return the form of a file that Tierlab does not unpack; None for any other file."""
    return next((form for magic, form in _OTHERS.items() if start.startswith(magic)), None)


def is_compressed(start: bytes) -> bool:
    """Return whether `unpacked` can unpack a file that starts so."""
    return start.startswith(tuple(_UNPACKERS))


def unpacked(raw: IO[bytes]) -> Unpacked | None:
    """Return the content of a compressed file; None if the file is not compressed. `raw` is at its
    start, and stays there if it is not compressed.
    """
    start = raw.read(START)
    raw.seek(0)
    for magic, unpack in _UNPACKERS.items():
        if start.startswith(magic):
            return unpack(raw)
    return None


def damage(error: Exception) -> str | None:
    """Return why a compressed file cannot be read on, by what reading raised; None if the machine
    failed to read it. What was read before the error is right.
    """
    if isinstance(error, OSError) and error.errno is not None:
        return None
    return str(error).rstrip(".") or "it ends too early"
