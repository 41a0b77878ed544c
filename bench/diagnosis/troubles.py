"""Real troubles that no class of disturbance makes, by workload."""

from __future__ import annotations

from rubbos_troubles import RUBBOS
from rubis_troubles import RUBIS
from trouble import Trouble

TROUBLES: dict[str, tuple[Trouble, ...]] = {"rubbos": RUBBOS, "rubis": RUBIS}
