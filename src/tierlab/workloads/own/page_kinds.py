"""Kinds of page: paths without what changes in them.

The tracer's labels have the same rule (`agent/crates/dissect/src/path_value.rs`).
"""

from __future__ import annotations

import re
from urllib.parse import unquote

SUFFIXES = """7z action apk ashx asmx asp aspx atom avi avif bin bmp bz2 cfm cgi cjs css csv dat
    deb dmg do doc docx eot epub exe flac geojson gif gz heic htm html ico ics ini iso jar jpeg
    jpg js json jsonl jsp jspx log m3u8 m4a m4s map md mjs mkv mov mp3 mp4 mpd msi ods odt ogg
    otf parquet pbf pdf php phtml pl png ppt pptx py rar rpm rss rtf shtml sql svg tar tgz tif
    tiff toml ts tsv ttf txt vcf vtt war wasm wav webm"""
_FILE = re.compile(rf"(.*?)((?:\.(?:{'|'.join(SUFFIXES.split())}))*)", re.I | re.ASCII | re.DOTALL)
_ID = re.compile(r"[0-9]+|(?=.*[0-9])[0-9A-Fa-f-]{8,}")
_MADE = re.compile(
    r"(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9_\-+/=.~:]{8,}|[A-Za-z0-9_\-+/=.~]{24,}", re.DOTALL
)
_JOINT = re.compile(r"[-_.~+]")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[A-Za-z]{0,23}")
_VERSION = re.compile(r"v[0-9]{1,2}(?:(?:alpha|beta)[0-9]{0,2})?")
_LONG_NUMBER = re.compile(r"[0-9]{8,}")


def kind(target: str) -> str:
    """The path, with ``{id}`` for ids, and ``{token}`` for mail addresses and what looks as if it
    was made by chance.
    """
    return "/".join(map(_shown, target.partition("?")[0].split("/")))


def _shown(segment: str) -> str:
    name = segment.partition(";")[0]
    plain = unquote(name)
    if "@" in plain:
        return "{token}"
    found = _FILE.fullmatch(plain)
    stem, suffix = found.groups() if found else (plain, "")
    if _ID.fullmatch(stem):
        return f"{{id}}{suffix}"
    return f"{{token}}{suffix}" if (_has_made if suffix else _is_made)(stem) else name


def _is_made(name: str) -> bool:
    """Whether it looks as if it was made by chance: long, and no words."""
    return _MADE.fullmatch(name) is not None and not _is_words(name)


def _has_made(stem: str) -> bool:
    parts = _JOINT.split(stem)
    return any(_is_made(each) or _LONG_NUMBER.fullmatch(each) for each in parts)


def _is_words(name: str) -> bool:
    """Words, and versions of interfaces, with signs between them (``how-to-bake-bread``,
    ``shop.v1.Orders``) or capitals (``ViewStory``).
    """
    capitals = len(_CAPITAL.findall(name))
    parts = _JOINT.split(name)
    return capitals * 5 <= len(name) and all(map(_is_word, parts))


def _is_word(part: str) -> bool:
    return _VERSION.fullmatch(part) is not None or all(map(_WORD.fullmatch, _CAPITAL.split(part)))
