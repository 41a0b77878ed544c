"""The text of a file that people edit: UTF-8, or UTF-16 and UTF-32 as editors of Windows write."""

from __future__ import annotations

import codecs

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""Byte order marks; UTF-32's before UTF-16's, which begin the same."""


class NotTextError(ValueError):
    """How a sentence about the file goes on: `is not UTF-8 text (line 3, column 9: ...); ...`."""


def decoded(content: bytes) -> str:
    """Return the text without its byte order mark; raise `NotTextError` if it cannot be decoded."""
    mark, encoding = next(
        ((mark, name) for mark, name in _MARKS if content.startswith(mark)),
        (b"", _guessed(content)),
    )
    content = content[len(mark) :]
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        before = content[: error.start].decode(encoding)
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        found = content[error.start : error.start + 1].hex()
        raise NotTextError(
            f"is not {encoding[:6].rstrip('-').upper()} text (line {line}, column {column}: byte"
            f" 0x{found}); save it as UTF-8"
        ) from None


def _guessed(content: bytes) -> str:
    """Return the encoding of a text without a mark: every other byte of ASCII in UTF-16 is zero."""
    first = content[:4]
    if len(first) == len(codecs.BOM_UTF32_LE):
        zeros = [byte == 0 for byte in first]
        if zeros == [False, True, False, True]:
            return "utf-16-le"
        if zeros == [True, False, True, False]:
            return "utf-16-be"
    return "utf-8"
