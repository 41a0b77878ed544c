"""What the web and the application tier have to serve."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tierlab import installation
from tierlab.errors import UserError


@dataclass(frozen=True)
class Pages:
    """What the web tier answers, by itself or through the tiers behind."""

    documents: Path
    """The web tier's document root."""
    ready_path: str
    """A page that every tier behind has a part in."""


@dataclass(frozen=True)
class Application(Pages):
    """A built application, with the pages that are not its own."""

    name: str
    jar: Path
    libraries: Path
    dynamic_prefix: str
    """Paths that the application answers; the web tier answers all others."""

    def check(self) -> None:
        """Raise `UserError` if it is not built."""
        for path in (self.jar, self.libraries, self.documents):
            if not path.exists():
                raise UserError(f"{path} is missing: {installation.REMEDY}.")
