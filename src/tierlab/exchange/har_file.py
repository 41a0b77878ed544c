"""The entries of a HAR file: of one that is whole, compressed, cut short, or damaged within."""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from tierlab.errors import UserError
from tierlab.exchange.compressed import READ_ERRORS, ZIP, damage, other_form, unpacked
from tierlab.exchange.har_fields import shown

MOST_BYTES = 256 << 20
"""Read into memory at once, and three times as much while it is."""
CHUNK = 1 << 16
OTHERS = {
    b"\x0a\x0d\x0d\x0a": "it is a packet capture; record the visit in a browser",
    b"\xd4\xc3\xb2\xa1": "it is a packet capture; record the visit in a browser",
    b"%PDF": "it is a PDF document",
}
"""What a file is instead that is not compressed, by the bytes with which it begins."""
SAVE = "save one from a browser's developer tools (Network, Save all as HAR)"
BLANK = " \t\r\n\0\ufeff"
_LIST = re.compile(r'"entries"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,\0]*")
_ENTRY = re.compile(
    r'\{\s*"(?:_\w+|startedDateTime|pageref|cache|connection|request|response|serverIPAddress|time|'
    r'timings|comment)"\s*:'
)
"""How an entry begins; so do other objects."""
_JSON = json.JSONDecoder(strict=False)


@dataclass
class Entries:
    """What a file has in its list of entries, in the file's order."""

    listed: list[Any] = field(default_factory=list)
    """Whatever is in the list: not yet known to be entries."""
    notes: list[str] = field(default_factory=list)
    """What is wrong with the file, and what to do: sentences without a full stop."""


def read_entries(path: Path) -> Entries:
    """Return the entries of a file. Raises UserError where it cannot be read, is too large, or is
    no HAR file; the message tells what it is instead where that is known.
    """
    found = Entries()
    try:
        if path.stat().st_size > MOST_BYTES:
            _too_large(path)
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}.") from None
    data = _unpacked(path, data, found)
    text = _decoded(data, found)
    if not text:
        _refuse(path, "it has nothing but NUL bytes" if b"\0" in data else "it is empty")
    if not _read_whole(text, found) and not _read_parts(text, found):
        _refuse(path, _looks(text))
    if not found.listed:
        raise UserError(f"{path}: has no requests; record some pages first.")
    return found


def _too_large(path: Path) -> NoReturn:
    raise UserError(f"{path}: is over {MOST_BYTES >> 20} MiB; record fewer pages at once.")


def _refuse(path: Path, what: str) -> NoReturn:
    raise UserError(f"{path}: is no HAR file: {what}; {SAVE}.")


def _unpacked(path: Path, data: bytes, found: Entries) -> bytes:
    """The file's bytes, unpacked if they are compressed."""
    for begin, what in OTHERS.items():
        if data.startswith(begin):
            raise UserError(f"{path}: is no HAR file: {what}.")
    form = other_form(data)
    if form is ZIP:
        return _of_archive(path, data)
    if form is not None:
        way = "unpack it, and give the .har file in it"
        if form.command is not None:
            way = f"unpack it first: {form.command} FILE"
        raise UserError(f"{path}: is no HAR file: it is {form.what}; {way}.")
    packed = unpacked(io.BytesIO(data))
    if packed is None:
        return data
    whole = bytearray()
    try:
        while part := packed.read1(CHUNK):
            whole += part
            if len(whole) > MOST_BYTES:
                _too_large(path)
    except READ_ERRORS as error:
        if damage(error) is None:
            raise
        found.notes.append("the compressed file ends early or is damaged; copy it again")
    return bytes(whole)


def _of_archive(path: Path, data: bytes) -> bytes:
    """The one HAR file of a zip archive, as Playwright writes them."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [each for each in archive.infolist() if each.filename.lower().endswith(".har")]
            if len(names) != 1:
                raise UserError(
                    f"{path}: is a zip archive with {len(names)} .har files; unpack it, and give"
                    " one of its recordings."
                )
            if names[0].file_size > MOST_BYTES:
                _too_large(path)
            return archive.read(names[0])
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError):
        raise UserError(
            f"{path}: is a zip archive that cannot be read; unpack it, and give the .har file in"
            " it."
        ) from None


def _decoded(data: bytes, found: Entries) -> str:
    """The text of a file in UTF-8, UTF-16 or UTF-32, with a byte order mark or without."""
    encoding = json.detect_encoding(data) if data else "utf-8"
    text = data.decode(encoding, errors="replace")
    end = text.rstrip(BLANK)
    nuls = text.count("\0", len(end))
    if nuls and end:
        found.notes.append(f"{nuls} NUL characters at the end of the file are passed over")
    kept = data.count("\ufffd".encode(encoding.removesuffix("-sig")))
    wrong = end.count("\ufffd") - kept
    if wrong > 0 and not _is(data, encoding):
        found.notes.append(
            f"{wrong} characters are not in the file's encoding ({encoding}) and are read as"
            " U+FFFD; save the recording again if a form's values or addresses lack letters"
        )
    return end.lstrip(BLANK)


def _is(data: bytes, encoding: str) -> bool:
    """Whether bytes are in an encoding, but for a character that is cut at their end."""
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        return error.end >= len(data)
    return True


def _read_whole(text: str, found: Entries) -> bool:
    """Whether the text is HAR's JSON; also several, one after the other."""
    at, documents = 0, 0
    while at < len(text):
        try:
            document, end = _JSON.raw_decode(text, at)
        except (ValueError, RecursionError):
            document, end = None, at
        listed = _entries(document)
        if listed is None:
            break
        documents += 1
        found.listed += listed
        at = _end(_BETWEEN, text, end)
    if documents > 1:
        found.notes.append(f"{documents} recordings in the file are read as one visit")
    if documents and at < len(text):
        found.notes.append(f"{len(text) - at} characters after its end are passed over")
    return documents > 0


def _entries(document: Any) -> list[Any] | None:
    """A HAR document's list; None where it has none. Some tools leave out the outer `log`."""
    log = document.get("log", document) if isinstance(document, dict) else None
    if not isinstance(log, dict) or "entries" not in log:
        return None
    listed = log["entries"]
    return listed if isinstance(listed, list) else []


def _read_parts(text: str, found: Entries) -> bool:
    """Whether the text has a list of entries, of which at least one can be read. Takes those before
    and after each damaged place.
    """
    begin = _LIST.search(text)
    if begin is None:
        return False
    at = _end(_BETWEEN, text, begin.end())
    holes: list[int] = []
    while at < len(text) and text[at] != "]":
        try:
            each, at = _JSON.raw_decode(text, at)
        except (ValueError, RecursionError):
            holes.append(len(found.listed))
            further = next(_further(text, at + 1), None)
            if further is None:
                at = len(text)
                break
            each, at = further
        found.listed.append(each)
        at = _end(_BETWEEN, text, at)
    found.notes += _told(holes, len(found.listed), ended=at < len(text))
    return bool(found.listed)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _further(text: str, at: int) -> Iterator[tuple[Any, int]]:
    """The whole entries from a place on, each with where it ends."""
    for begin in _ENTRY.finditer(text, at):
        try:
            each, end = _JSON.raw_decode(text, begin.start())
        except (ValueError, RecursionError):
            continue
        if "request" in each and ("response" in each or "startedDateTime" in each):
            yield each, end


def _told(holes: list[int], count: int, *, ended: bool) -> Iterator[str]:
    """What a text lacks: `holes` are how many entries were read before each damaged place."""
    entries = "1 entry" if count == 1 else f"{count} entries"
    if within := [hole for hole in holes if hole < count]:
        places = "1 place" if len(within) == 1 else f"{len(within)} places"
        yield (
            f"the file is damaged in {places}, first after entry {within[0]}: what stood there is"
            f" left out, and {entries} are read; save the recording again"
        )
    if not ended:
        yield (
            f"the file is cut after {entries}: what was recorded later is missing, also an entry"
            " that is not complete; save the recording again"
        )
    elif not within:
        yield f"the file's end is missing, but nothing of its {entries}"


def _looks(text: str) -> str:
    """What a text is that has no entries."""
    begin = text[:1000].lower()
    if begin.startswith("<"):
        is_page = "<html" in begin or "<!doctype html" in begin
        return "it is an HTML page" if is_page else "it is XML"
    try:
        document, _ = _JSON.raw_decode(text)
    except (json.JSONDecodeError, RecursionError) as error:
        return _broken(text, error)
    if isinstance(document, list):
        return "it is JSON without log.entries"
    if not isinstance(document, dict):
        return "it is no JSON (line 1, column 1)"
    keys = ", ".join(str(key)[:30] for key in list(document)[:5]) or "none"
    return f"it is JSON without log.entries (its keys: {shown(keys)})"


def _broken(text: str, error: Exception) -> str:
    """What a text is that is no JSON."""
    if not isinstance(error, json.JSONDecodeError):
        return "it is nested too deeply"
    if _LIST.search(text) or (text.startswith("{") and '"log"' in text[:1000]):
        return "it is cut, or damaged, before the end of its first entry"
    return f"it is no JSON (line {error.lineno}, column {error.colno})"
