"""Hatchling's hook for a wheel: it brings what was built, and the studies, along with the package.

They lie below `tierlab/bundle` at the paths that they have in the source tree, which is where
`tierlab.installation` looks for them.
"""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILT = (
    "agent/target/release/tierlab-agent",
    "agent/target/release/tierlab-cache.so",
    "apps/rubbos/target/rubbos.jar",
    "apps/rubbos/target/lib",
    "apps/rubbos/target/static",
    "apps/kernels/target/release/tierlab-kernels",
)
BROUGHT = (*BUILT, "apps/rubis", "apps/olio", "studies")


class Bundle(BuildHookInterface[Any]):
    """Adds them to a wheel, which is for this kind of machine then, and for any Python 3."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Refuse to make a wheel in which something would be missing."""
        if version == "editable":
            return
        root = Path(self.root)
        missing = [path for path in BUILT if not (root / path).exists()]
        if missing:
            raise FileNotFoundError(f"{', '.join(missing)}: not built; `make wheel` builds it.")
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["force_include"] |= {path: f"tierlab/bundle/{path}" for path in BROUGHT}
