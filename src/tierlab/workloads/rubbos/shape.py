"""What a deployment of RUBBoS consists of: its artefacts, and which tier answers what.

The tiers and their servers are the defaults of `tierlab.experiment.system`; how many users there
are to log in as says `tierlab.workloads.rubbos.population`.
"""

from __future__ import annotations

from tierlab import installation

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

APPLICATION_JAR = installation.application(NAME) / "rubbos.jar"
"""The application with its own Tomcat."""

APPLICATION_LIBRARIES = installation.application(NAME) / "lib"
"""The folder of the jar's libraries, which must lie beside it as `lib`."""

DOCUMENT_ROOT = installation.application(NAME) / "static"
"""The web server's documents: `STATIC_PATHS`."""
