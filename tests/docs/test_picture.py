"""The README's picture shows the page as it is."""

from __future__ import annotations

import hashlib

from pages import DOCS, ROOT

PICTURE = DOCS / "picture" / "report.webp"
MOST_BYTES = 150 << 10


def test_the_picture_is_of_the_page_as_it_looks_now() -> None:
    kept = (DOCS / "picture" / "looks.sha256").read_text(encoding="utf-8").splitlines()

    assert kept
    for line in kept:
        digest, path = line.split("  ")
        now = hashlib.sha256((ROOT / path).read_bytes()).hexdigest()
        assert now == digest, f"{path} has changed: take the picture again with `make picture`"


def test_the_readme_shows_it_and_it_is_small() -> None:
    assert f"]({PICTURE.relative_to(ROOT)})" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert PICTURE.read_bytes()[8:12] == b"WEBP"
    assert PICTURE.stat().st_size < MOST_BYTES
