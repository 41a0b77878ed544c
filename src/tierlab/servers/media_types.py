"""What files are, by their names' endings, for web servers: nothing of the system's own list."""

from __future__ import annotations

from collections.abc import Mapping

MEDIA_TYPES: Mapping[str, str] = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "png": "image/png",
    "jpg": "image/jpeg",
    "pdf": "application/pdf",
}
