"""Tomcat's archives of classes, for tests with a cache of their own: to make one takes seconds."""

from __future__ import annotations

from pathlib import Path

from tierlab.servers.made_once import cache_folder


def share_class_archives(cache: Path) -> None:
    """Have those of whoever runs the tests in the cache below this ``XDG_CACHE_HOME`` too."""
    theirs = cache_folder("tomcat")
    theirs.mkdir(parents=True, exist_ok=True)
    shared = cache / "tierlab" / "tomcat"
    shared.parent.mkdir(parents=True, exist_ok=True)
    shared.symlink_to(theirs)
