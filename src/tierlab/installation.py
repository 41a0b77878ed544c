"""Where what is not Python lies: the agent, the built applications, the studies.

In a source tree they are where the builds leave them. A wheel brings them below `bundle`, at the
same relative paths; `setup/wheel.py` says which. And where what is made once is kept.
"""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_BUNDLE = _PACKAGE / "bundle"
_IS_WHEEL = _BUNDLE.is_dir()
_ROOT = _BUNDLE if _IS_WHEEL else _PACKAGE.parents[1]

AGENT = _ROOT / "agent" / "target" / "release" / "tierlab-agent"
CACHE_PLUGIN = AGENT.with_name("tierlab-cache.so")
"""The simulated cache, which QEMU loads."""
STUDIES = _ROOT / "studies"
REMEDY = "install Tierlab's wheel again" if _IS_WHEEL else "build it with `make setup`"
"""What to do where one of them is missing."""


def cache(name: str) -> Path:
    """Return ``$XDG_CACHE_HOME/tierlab/<name>``, by default below ``~/.cache``.

    What lies there can be made anew.
    """
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "tierlab" / name


def application(name: str) -> Path:
    """Return the folder with what the application's build made."""
    return _ROOT / "apps" / name / "target"


def interpreted(name: str) -> Path:
    """Return the folder of an application that runs as it is written."""
    return _ROOT / "apps" / name
