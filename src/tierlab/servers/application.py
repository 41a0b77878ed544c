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
class DynamicPages(Pages):
    """Pages of which some are made by an application."""

    name: str
    dynamic_prefix: str
    """Paths that the application answers; the web tier answers all others."""

    @property
    def parts(self) -> tuple[Path, ...]:
        """What it consists of."""
        return (self.documents,)

    def check(self) -> None:
        """Raise `UserError` if it is not built."""
        for path in self.parts:
            if not path.exists():
                raise UserError(f"{path} is missing: {installation.REMEDY}.")


@dataclass(frozen=True)
class Application(DynamicPages):
    """A built application of Java's, which has its server inside."""

    jar: Path
    libraries: Path

    @property
    def parts(self) -> tuple[Path, ...]:
        """The archive, its libraries, and the pages that are not its own."""
        return (self.jar, self.libraries, self.documents)


@dataclass(frozen=True)
class PhpApplication(DynamicPages):
    """An application of PHP's, which takes its settings from variables that begin with its name:
    ``<NAME>_PERSISTENT`` (0 or 1), ``_FIDELITY`` and ``_FILES`` (a folder of its own); for its
    database ``_DSN`` (PDO's), ``_USER`` and ``_PASSWORD``; for others that it calls, by the
    protocol, their addresses with ports between commas: ``_MEMCACHED``, ``_HTTP``.
    """

    library: Path
    """What its pages include; lies beside the document root."""
    extensions: tuple[str, ...]
    """Of PHP, beside those for what it calls."""
    seed: Path | None = None
    """What the folder of its own begins with, there called `seed`."""

    @property
    def parts(self) -> tuple[Path, ...]:
        """Its pages, and what they include."""
        return (self.documents, self.library)
