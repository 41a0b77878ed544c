"""A place on a machine, as experiment files say it."""

from __future__ import annotations

from tierlab.values.kinds import Text

PLACE = Text("a place in hwloc's words; {n} is the instance, from 0", r"[A-Za-z0-9:.,+{}-]+")
