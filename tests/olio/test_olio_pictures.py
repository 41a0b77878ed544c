"""What users upload and generated rows have: of the published sizes, and what it claims to be."""

from __future__ import annotations

import re
from io import BytesIO

import pytest
from PIL import Image

from tierlab.workloads.olio import pictures

SIZES = {
    "person.jpg": 671_520,
    "person_thumb.jpg": 5_758,
    "event.jpg": 669_128,
    "event_thumb.jpg": 5_895,
    "event.pdf": 129_617,
}


def test_they_are_of_the_published_sizes() -> None:
    kept = pictures.folder()
    assert {file.name: file.stat().st_size for file in kept.iterdir()} == SIZES
    assert pictures.folder() == kept


@pytest.mark.parametrize("name", [name for name in SIZES if name.endswith(".jpg")])
def test_pictures_are_pictures(name: str) -> None:
    with Image.open(pictures.folder() / name) as picture:
        picture.load()
        expected = pictures.THUMBNAIL if "thumb" in name else pictures.PHOTO
        assert (picture.format, picture.size) == ("JPEG", expected)


@pytest.mark.parametrize("more", [0, 4, 5, 65_536, 65_537, 65_538, 65_541, 200_001])
def test_a_picture_is_filled_up_to_the_byte(more: int) -> None:
    out = BytesIO()
    Image.new("RGB", (8, 8)).save(out, "JPEG")
    filled = pictures._filled(out.getvalue(), more)
    assert len(filled) == len(out.getvalue()) + more
    with Image.open(BytesIO(filled)) as picture:
        assert picture.getpixel((0, 0)) == (0, 0, 0)


def test_the_documents_table_has_the_place_of_each_object() -> None:
    text = (pictures.folder() / "event.pdf").read_bytes()
    found = re.search(rb"startxref\n(\d+)\n%%EOF\n\Z", text)
    assert found is not None
    table = text[int(found[1]) :].splitlines()
    assert table[0] == b"xref"
    places = [int(line.split()[0]) for line in table[3 : 3 + 5]]
    assert [text[place : place + 7] for place in places] == [b"%d 0 obj" % n for n in range(1, 6)]
