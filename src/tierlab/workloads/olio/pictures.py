"""The pictures and the document of Olio's users: what generated rows have, and what forms upload.

The published ones are not at hand; these are of their sizes to the byte, and a photo's contents
cost a decoder about what a photo's do: noise whose amplitude falls with its frequency as that of
natural scenes does (D. J. Field, "Relations between the statistics of natural images and the
response properties of cortical cells", 1987).
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from importlib import metadata
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tierlab import installation
from tierlab.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

PHOTO = (1_600, 1_200)
THUMBNAIL = (120, 90)
"""Width and height in pixels."""
UPLOADED: Mapping[str, str] = {
    "person.jpg": "image/jpeg",
    "event.jpg": "image/jpeg",
    "event.pdf": "application/pdf",
}
"""What forms upload: media types by name."""
_QUALITIES = range(95, 4, -5)
_COMMENT = b"\xff\xfe"
"""A JPEG file's marker of a comment (ITU-T T.81, 1992, table B.1)."""
_COMMENT_MOST = 65_533
_COMMENT_OVERHEAD = 4


def cache_folder() -> Path:
    """``$XDG_CACHE_HOME/tierlab/olio``, by default below ``~/.cache``."""
    return installation.cache("olio")


def folder() -> Path:
    """Where they lie: made when first wanted, and kept in the cache.

    Raises `UserError` where they cannot be kept.
    """
    made_by = Path(__file__).read_bytes() + metadata.version("pillow").encode()
    key = hashlib.sha256(made_by).hexdigest()[:12]
    kept = cache_folder() / f"pictures-{key}"
    if kept.is_dir():
        return kept
    try:
        _make(kept)
    except OSError as error:
        raise UserError(
            f"{kept.parent}: cannot keep Olio's pictures there ({error.strerror});"
            " set XDG_CACHE_HOME."
        ) from error
    return kept


def _make(kept: Path) -> None:
    """All of them or none."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".pictures-", dir=kept.parent))
    try:
        for name, make in _FILES.items():
            (made / name).write_bytes(make())
        made.chmod(0o755)
        try:
            made.rename(kept)
        except OSError:
            if not kept.is_dir():  # else another trial was quicker with the same
                raise
    finally:
        shutil.rmtree(made, ignore_errors=True)


def photo(seed: int, size: int) -> bytes:
    """A JPEG picture of `PHOTO` pixels and exactly `size` bytes."""
    return _encoded(_scene(seed), size)


def thumbnail(seed: int, size: int) -> bytes:
    """The same picture, of `THUMBNAIL` pixels."""
    return _encoded(_scene(seed).resize(THUMBNAIL), size)


def document(size: int) -> bytes:
    """A PDF document of one page and exactly `size` bytes."""
    return _pdf(size - len(_pdf(0)))


@cache
def _scene(seed: int) -> Image:
    """A picture of noise with a spectrum of 1/f, in each colour the same elsewhere."""
    from PIL.Image import fromarray  # only where pictures are made

    width, height = PHOTO
    across, down = np.fft.rfftfreq(width), np.fft.fftfreq(height)[:, None]
    frequency = np.maximum(np.hypot(across, down), 1 / width)
    white = np.random.default_rng(seed).standard_normal((height, width))
    noise = np.fft.irfft2(np.fft.rfft2(white) / frequency, (height, width))
    plane = np.clip(128 + 48 * noise / noise.std(), 0, 255).astype(np.uint8)
    moved = [np.roll(plane, width // 3 * colour, axis=1) for colour in range(3)]
    return fromarray(np.stack(moved, axis=-1))


def _encoded(picture: Image, size: int) -> bytes:
    """As JPEG in the best quality that fits, filled up with comments."""
    for quality in _QUALITIES:
        out = BytesIO()
        picture.save(out, "JPEG", quality=quality)
        left = size - len(out.getvalue())
        if left == 0 or left >= _COMMENT_OVERHEAD:
            return _filled(out.getvalue(), left)
    raise ValueError(f"{size} bytes are too few for {picture.size} pixels")


def _filled(picture: bytes, left: int) -> bytes:
    """The picture with comments of `left` bytes in all after its first marker."""
    comments = b""
    while left:
        length = min(left - _COMMENT_OVERHEAD, _COMMENT_MOST)
        if 0 < left - _COMMENT_OVERHEAD - length < _COMMENT_OVERHEAD:
            length -= _COMMENT_OVERHEAD  # what is left must hold another
        comments += _COMMENT + (length + 2).to_bytes(2, "big") + b"." * length
        left -= _COMMENT_OVERHEAD + length
    return picture[:2] + comments + picture[2:]


def _pdf(filling: int) -> bytes:
    """A page with a line of text, and a comment of so many bytes (ISO 32000-1, 2008, 7.5)."""
    shown = b"BT /F1 24 Tf 72 720 Td (What happens at the event) Tj ET"
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(shown), shown),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )
    text = b"%PDF-1.4\n%" + b"." * filling + b"\n"
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(text))
        text += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    entries = b"".join(b"%010d 00000 n \n" % place for place in places)
    table = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, entries)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    # Of a width that does not depend on the number.
    return text + table + trailer + b"startxref\n%010d\n%%%%EOF\n" % len(text)


_FILES: Mapping[str, Callable[[], bytes]] = {
    "person.jpg": lambda: photo(1, 671_520),
    "person_thumb.jpg": lambda: thumbnail(1, 5_758),
    "event.jpg": lambda: photo(2, 669_128),
    "event_thumb.jpg": lambda: thumbnail(2, 5_895),
    "event.pdf": lambda: document(129_617),
}
"""What makes each, with the published sizes in bytes."""
