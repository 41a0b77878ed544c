"""The templates' compiled code, kept: to compile them takes longer than to fill them in."""

from contextlib import suppress
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from tierlab import installation


class Compiled(jinja2.FileSystemBytecodeCache):
    """Jinja's own cache, which compares a template's source, for one Jinja and its settings.

    Where it cannot be written the templates are compiled each time.
    """

    def __init__(self, settings: str) -> None:
        self._folder: Path = installation.cache("templates")
        super().__init__(str(self._folder), f"{jinja2.__version__}-{settings}-%s")

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template's code, if that can be."""
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            super().dump_bytecode(bucket)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take a template's code, if it is there and for this source."""
        with suppress(OSError):
            super().load_bytecode(bucket)
