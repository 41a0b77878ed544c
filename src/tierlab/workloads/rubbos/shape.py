"""What a deployment of RUBBoS consists of: its artefacts, and which tier answers what.

The tiers and their servers are the defaults of `tierlab.experiment.system`; how many users there
are to log in as says `tierlab.workloads.rubbos.population`.
"""

from __future__ import annotations

from pathlib import Path

NAME = "rubbos"
CONTEXT = "/rubbos"
DYNAMIC_PREFIX = f"{CONTEXT}/servlet/"
"""Everything below it goes to the application tier; the rest is the web server's own."""

READY_PATH = f"{DYNAMIC_PREFIX}BrowseCategories"
"""A short page that every tier has a part in and nothing written can empty."""

STATIC_PATHS = (
    f"{CONTEXT}/register.html",
    f"{CONTEXT}/browse.html",
    f"{CONTEXT}/author.html",
    f"{CONTEXT}/images/logo.png",
)

FORM_PATH = f"{DYNAMIC_PREFIX}StoreComment"
"""A page that reads a POSTed form before it can answer."""

ENTRY_PATHS = (
    f"{DYNAMIC_PREFIX}StoriesOfTheDay",
    f"{CONTEXT}/images/logo.png",
    f"{DYNAMIC_PREFIX}BrowseCategories",
    f"{CONTEXT}/images/logo.png",
)
"""What anybody can ask for who comes anew, each page followed by its image."""

_TARGET = Path("apps") / "rubbos" / "target"


def application_jar(project: Path) -> Path:
    """The application with its own Tomcat."""
    return project / _TARGET / "rubbos.jar"


def application_libraries(project: Path) -> Path:
    """The folder of the jar's libraries, which must lie beside it as `lib`."""
    return project / _TARGET / "lib"


def document_root(project: Path) -> Path:
    """The web server's documents: `STATIC_PATHS`."""
    return project / _TARGET / "static"
