"""Whose requests are meant? Of several systems on one machine each has users, pages and CPUs of its
own; nothing here changes where there is one.
"""

from collections.abc import Sequence
from typing import Any

from tierlab.tables.manifest import Manifest


def requests_of(manifest: Manifest, systems: Sequence[str] = ()) -> str:
    """Return the requests of these systems, of all where none is named, as a table in SQL. Pages of
    two systems are two pages, though they have one name.
    """
    if len(manifest.systems) < 2:
        return "requests"
    listed = ", ".join("'{}'".format(name.replace("'", "''")) for name in systems)
    some = f" WHERE system IN ({listed})" if systems else ""
    page = "system || '.' || interaction AS interaction"
    return f"(SELECT * REPLACE ({page}) FROM requests{some})"


def load_of(manifest: Manifest, systems: Sequence[str]) -> dict[str, Any]:
    """Return the load of these systems' users together; nothing where it was not kept."""
    if len(systems) == 1:
        return manifest.systems[systems[0]].load
    return manifest.load if len(systems) in {0, len(manifest.systems)} else {}
