"""What a deployment of Olio consists of: its sources, and which tier answers what.

There is nothing to build: PHP runs the sources as they are.
"""

from __future__ import annotations

from tierlab import installation

NAME = "olio"
CONTEXT = "/olio"
DYNAMIC_PREFIX = f"{CONTEXT}/php/"
"""Everything below it is for PHP, files of users among it; the rest is the web server's own."""

READY_PATH = f"{DYNAMIC_PREFIX}index.php"
"""The home page: the cache and the database have a part in it."""

FORM_PATH = f"{DYNAMIC_PREFIX}login.php"
"""A page that reads a POSTed form before it can answer."""

ENTRY_PATHS = (READY_PATH, f"{CONTEXT}/images/header.png")
"""What anybody can ask for who comes anew, with one of its images."""

APPLICATION = installation.interpreted(NAME)
"""The application: `public`, beside it the `library` that its pages read, and the geocoder."""

DOCUMENT_ROOT = APPLICATION / "public"
"""The web server's documents, and PHP's pages below `DYNAMIC_PREFIX`."""

EXTENSIONS = ("gd",)
"""Of PHP, that its pages use besides those for what they call."""

GEOCODER = "geocoder"
GEOCODER_ROOT = APPLICATION / GEOCODER
GEOCODER_PREFIX = f"/{GEOCODER}/php/"
GEOCODER_READY_PATH = f"{GEOCODER_PREFIX}geocode.php?city=Ready"
"""An address, as each of its answers is for one."""

_LAYOUT = (
    *(f"{CONTEXT}/css/{name}.css" for name in ("scaffold", "site")),
    *(f"{CONTEXT}/js/{name}.js" for name in ("elements", "application", "effects", "controls")),
    *(
        f"{CONTEXT}/images/{name}.png"
        for name in (
            *("background", "header", "nav", "nav_hover", "feed"),
            *("corner_top_left", "corner_top_right", "corner_bottom_left", "corner_bottom_right"),
            *("reflection", "reflection_left", "reflection_right"),
        )
    ),
)
"""What every page is laid out with."""

PAGE_STATICS = _LAYOUT
EVENT_STATICS = (
    *_LAYOUT,
    f"{CONTEXT}/js/stars.js",
    f"{CONTEXT}/images/star_on.png",
    f"{CONTEXT}/images/star_off.png",
)
FORM_STATICS = (*_LAYOUT, f"{CONTEXT}/js/validate.js")
"""Static files by the sort of page that a browser fetches them for."""
