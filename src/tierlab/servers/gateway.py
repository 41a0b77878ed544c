"""What web servers that hand requests on have in common."""

from __future__ import annotations

from pathlib import Path

from tierlab.servers import php
from tierlab.servers.base import Site

DOCUMENTS = "htdocs"
"""In its folder. In a guest, what is read of the host's folder is asked of the host each time."""


def script_folder(site: Site) -> Path:
    """Where the application servers have the pages that they are asked for by FastCGI.

    All of them have it at one place: a request may go to any.
    """
    return php.script(site.folders[site.upstreams[0]])
