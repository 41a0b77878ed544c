"""Files of access logs: compressed, in other encodings, and cut."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.own.made_logs import (
    START,
    Asked,
    check,
    combined,
    text,
)
from tierlab.errors import UserError
from tierlab.exchange.access_log import read_access_log, read_log
from tierlab.workloads.own.logged import notes

BYTES: dict[str, Callable[[str], bytes]] = {
    "gzip": lambda whole: gzip.compress(whole.encode()),
    "gzip of several parts": lambda whole: (
        gzip.compress(whole[:5000].encode()) + gzip.compress(whole[5000:].encode())
    ),
    "bzip2": lambda whole: bz2.compress(whole.encode()),
    "xz": lambda whole: lzma.compress(whole.encode()),
    "gzip of UTF-16": lambda whole: gzip.compress(whole.encode("utf-16")),
    "a mark of UTF-8": lambda whole: whole.encode("utf-8-sig"),
    "UTF-16": lambda whole: whole.encode("utf-16"),
    "UTF-16 without a mark": lambda whole: whole.encode("utf-16-le"),
    "UTF-16, the other order": lambda whole: b"\xfe\xff" + whole.encode("utf-16-be"),
    "CRLF": lambda whole: whole.replace("\n", "\r\n").encode(),
    "zeros before": lambda whole: b"\0" * 9000 + whole.encode(),
    "zeros behind": lambda whole: whole.encode() + b"\0" * 9000,
    "no end of the last line": lambda whole: whole.rstrip("\n").encode(),
    "empty lines between": lambda whole: whole.replace("\n", "\n\n \n").encode(),
    "bytes that are no text": lambda whole: whole.encode().replace(b"Macintosh", b"\xff\xe9"),
}


@pytest.mark.parametrize("stored", BYTES.values(), ids=BYTES.keys())
@pytest.mark.parametrize("name", ["access.log", "access.log.2.gz"])
def test_a_file_is_unpacked_and_decoded_by_what_it_is(
    tmp_path: Path, stored: Callable[[str], bytes], name: str
) -> None:
    file = tmp_path / name
    file.write_bytes(stored(text(combined)))
    check(file)


@pytest.mark.parametrize(
    ("start", "said"),
    [(b"\x28\xb5\x2f\xfd", "zstd"), (b"PK\x03\x04", "a zip archive"), (b"\x1f\x9d", "compress")],
)
def test_what_cannot_be_unpacked_is_named(tmp_path: Path, start: bytes, said: str) -> None:
    file = tmp_path / "access.log"
    file.write_bytes(start + b"rest" * 100)
    with pytest.raises(UserError, match=said):
        read_access_log(file)


def test_a_compressed_file_that_is_cut_is_read_as_far_as_it_goes_and_that_is_said(
    tmp_path: Path,
) -> None:
    file = tmp_path / "access.log.gz"
    whole = "".join(
        combined(each).replace("12 ", f"{hash(each) % 10**9} ") + "\n"
        for each in map(Asked, range(3000), [START] * 3000, ["/"] * 3000)
    )
    packed = gzip.compress(whole.encode())
    file.write_bytes(packed[: len(packed) // 2])
    found = read_log(file)
    assert 100 < len(found.lines) < 3000
    assert "damaged" in notes(file)[0]
    file.write_bytes(packed[:15])
    with pytest.raises(UserError, match="is damaged"):
        read_log(file)
