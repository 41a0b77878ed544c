"""What a deployment of RUBiS consists of: its sources, and which tier answers what.

There is nothing to build: a PHP with PDO runs the sources as they are. How many users there are to
log in as says `tierlab.workloads.rubis.population`.
"""

from __future__ import annotations

from tierlab import installation

NAME = "rubis"
CONTEXT = "/rubis"
DYNAMIC_PREFIX = f"{CONTEXT}/php/"
"""Everything below it is for PHP; the rest is the web server's own."""

READY_PATH = f"{DYNAMIC_PREFIX}BrowseCategories.php"
"""A short page that every tier has a part in and nothing written can empty."""

STATIC_PATHS = (
    *(f"{CONTEXT}/{name}.html" for name in ("index", "register", "browse", "sell", "about_me")),
    *(f"{CONTEXT}/images/{name}.png" for name in ("logo", "bid_now", "buy_now")),
)

FORM_PATH = f"{DYNAMIC_PREFIX}StoreComment.php"
"""A page that reads a POSTed form before it can answer."""

ENTRY_PATHS = (
    f"{CONTEXT}/index.html",
    f"{CONTEXT}/images/logo.png",
    f"{DYNAMIC_PREFIX}BrowseCategories.php",
    f"{CONTEXT}/images/logo.png",
)
"""What anybody can ask for who comes anew, each page followed by its image."""

APPLICATION = installation.interpreted(NAME)
"""The application: `public` and, beside it, the `library` that its pages read."""

DOCUMENT_ROOT = APPLICATION / "public"
"""The web server's documents: `STATIC_PATHS`, and PHP's pages below `DYNAMIC_PREFIX`."""

EXTENSIONS: tuple[str, ...] = ()
"""Of PHP, that its pages use besides those for the database."""
