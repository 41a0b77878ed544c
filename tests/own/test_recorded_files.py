"""HAR files that are compressed, in other encodings, cut, or damaged."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import json
import lzma
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.own.test_recorded import described, entry
from tierlab.errors import UserError
from tierlab.workloads.own.recorded import notes

TARGETS = ("/", "/items", "/cart")


def made(count: int = 3, **log: Any) -> str:
    entries = [
        entry({"url": f"http://h{TARGETS[each]}"})
        | {"startedDateTime": f"2026-01-01T00:00:0{each}Z"}
        for each in range(count)
    ]
    return json.dumps({"log": {"version": "1.2", "entries": entries, **log}})


def written(folder: Path, data: bytes | str) -> Path:
    file = folder / "v.har"
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    return file


def asked(file: Path) -> list[str]:
    """The paths of the steps."""
    return [each["interaction"].partition(" ")[2] for each in described(file)["states"]]


def archived(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, made())
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        made().encode(),
        codecs.BOM_UTF8 + made().encode(),
        made().encode("utf-16"),
        made().encode("utf-16-be"),
        made().encode("utf-32"),
        gzip.compress(made().encode()),
        gzip.compress(made().encode("utf-16")) + b"\0\0\0",
        gzip.compress(made().encode()[:300]) + gzip.compress(made().encode()[300:]),
        bz2.compress(made().encode()),
        lzma.compress(made().encode()),
        archived("har.har", "a1b2.html"),
        json.dumps(json.loads(made())["log"]).encode(),
        made(pages=[{"id": "p"}]).replace(" ", "\n").encode(),
    ],
    ids=[
        *("UTF-8", "BOM", "UTF-16", "UTF-16BE", "UTF-32", "gzip", "gzip of UTF-16, padded"),
        *("gzip in two", "bzip2", "xz", "zip", "without log", "lines"),
    ],
)
def test_a_whole_file_is_read_without_a_word(tmp_path: Path, data: bytes) -> None:
    file = written(tmp_path, data)
    assert asked(file) == list(TARGETS)
    assert notes([file]) == []


@pytest.mark.parametrize(
    ("data", "steps", "note"),
    [
        (made() + "\0" * 4096, 3, "4096 NUL characters at the end of the file are passed over"),
        (made().encode("utf-16") + b"\0" * 8, 3, "4 NUL characters at the end"),
        (made() + "\n-- saved --", 3, "11 characters after its end are passed over"),
        (made() + made()[5:], 3, "characters after its end are passed over"),
        (made(2) + "\n" + made(1), 3, "2 recordings in the file are read as one visit"),
        (made()[:-2], 3, "the file's end is missing, but nothing of its 3 entries"),
        (made()[:-3], 3, "the file is cut after 3 entries"),
        (made()[:-40], 2, "the file is cut after 2 entries"),
        (made()[:-40] + "\0" * 400, 2, "the file is cut after 2 entries"),
        (gzip.compress(made()[:-40].encode()), 2, "the file is cut after 2 entries"),
        (made(1)[:-1] + made()[200:260], 1, "the file's end is missing, but nothing of its 1"),
    ],
)
def test_a_damaged_end_loses_no_more_than_itself(
    tmp_path: Path, data: bytes | str, steps: int, note: str
) -> None:
    file = written(tmp_path, data)
    assert len(described(file)["states"]) == steps
    assert any(note in each for each in notes([file])), notes([file])


def test_a_file_that_is_cut_anywhere_gives_its_complete_entries(tmp_path: Path) -> None:
    text = made()
    ends = [text.index(f'{path}"') for path in TARGETS]
    for at in range(1, len(text) - 2, 7):
        file = written(tmp_path, text[:at])
        complete = sum(text.find("}}}", end) + 3 <= at for end in ends)
        if complete:
            assert asked(file) == list(TARGETS[:complete]), at
            assert len(notes([file])) == 1
        else:
            with pytest.raises(UserError, match="is no HAR file: it is "):
                described(file)


def test_compressed_files_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    """Each of the compressions, cut in the middle."""
    entries = [
        entry({"url": f"http://h/{number}"}, {"content": {"text": f"{number * 7919:b}" * 99}})
        for number in range(200)
    ]
    whole = json.dumps({"log": {"entries": entries}}).encode()
    packed = gzip.compress(whole)
    file = written(tmp_path, packed[: len(packed) * 2 // 3])
    assert len(described(file)["states"]) > 50
    first, second = notes([file])
    assert "the compressed file ends early" in first
    assert "the file is cut after" in second


@pytest.mark.parametrize(
    ("begin", "end"),
    [('"request"', '"content"'), ('"startedDateTime"', '"url"'), ("200", "}")],
)
def test_a_hole_in_the_middle_loses_what_stood_there_alone(
    tmp_path: Path, begin: str, end: str
) -> None:
    text = made()
    second = text.index("/items")
    start = text.rindex('{"startedDateTime"', 0, second)
    at = text.index(begin, start)
    file = written(tmp_path, text[: at + 2] + text[text.index(end, at + 3) + 3 :])
    assert asked(file) == ["/", "/cart"]
    assert "the file is damaged in 1 place, first after entry" in notes([file])[0]


def test_bytes_of_another_encoding_are_told(tmp_path: Path) -> None:
    text = made().replace("/items", "/größe")
    file = written(tmp_path, text.encode("latin-1"))
    assert len(described(file)["states"]) == 3
    (note,) = notes([file])
    assert "2 characters are not in the file's encoding (utf-8)" in note


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"\x28\xb5\x2f\xfd" + made().encode(), "it is compressed by zstd; unpack it first"),
        (b"7z\xbc\xaf\x27\x1c", "it is a 7-Zip archive"),
        (b"\x0a\x0d\x0d\x0a\0\0", "it is a packet capture"),
        (archived("a.har", "b.har"), "is a zip archive with 2 .har files; unpack it"),
        (archived("raw/1_c.txt"), "is a zip archive with 0 .har files"),
        (archived("a.har")[:60], "is a zip archive that cannot be read"),
        (gzip.compress(b""), "it is empty"),
        (gzip.compress(b"<html>"), "it is an HTML page"),
        (gzip.compress(made().encode())[:20], "is no HAR file"),
    ],
)
def test_what_it_is_instead_is_told(tmp_path: Path, data: bytes, sentence: str) -> None:
    with pytest.raises(UserError) as raised:
        described(written(tmp_path, data))
    assert sentence in str(raised.value)


def test_what_is_too_large_when_unpacked_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tierlab.exchange.har_file.MOST_BYTES", 10_000)
    for data in (gzip.compress(b" " * 20_000), bz2.compress(b" " * 20_000), b" " * 20_000):
        with pytest.raises(UserError, match="record fewer pages at once"):
            described(written(tmp_path, data))
