"""Services that take over what others have, of the same file or of another.

Source: Compose Specification, "extends": the service's own keys are merged over those of the other
as a later file's are, and the paths of another file begin in its folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tierlab.workloads.own.compose.document import Document, read_document
from tierlab.workloads.own.compose.findings import Findings
from tierlab.workloads.own.compose.merge import merged
from tierlab.workloads.own.compose.relative_paths import absolute_service
from tierlab.workloads.own.compose.variables import Interpolation

KEYS = {"service", "file"}
Named = tuple[Path, str]
"""A file, as `Path.resolve` has it, and a service of it."""


@dataclass(frozen=True)
class Extending:
    """Puts in what services extend. `folder`: where the paths of the first file begin."""

    folder: Path
    variables: Mapping[str, str]
    findings: Findings

    def all(self, file: Path, document: Document) -> dict[str, Any]:
        """Return the tables of a file; what cannot be extended is among the findings."""
        services = document.tables.get("services")
        if not isinstance(services, dict):
            return document.tables
        file = file.resolve()
        made = {name: self._service((file, name), document, self.folder, ()) for name in services}
        return {**document.tables, "services": made}

    def _service(
        self, named: Named, document: Document, folder: Path, above: tuple[Named, ...]
    ) -> Any:
        """Return a service with what it extends; `above` are those that extend it."""
        file, name = named
        own = document.tables["services"][name]
        if not isinstance(own, dict) or own.get("extends") is None:
            return own
        rest = {key: value for key, value in own.items() if key != "extends"}
        key = f"services.{name}.extends"
        key += "" if file == self.findings.file.resolve() else f" of {file}"
        other = self._other(key, own["extends"], file, folder)
        if other is None:
            return rest
        if other in (*above, named):
            cycle = " -> ".join(each[1] for each in (*above, named, other))
            self.findings.wrong(key, f"leads back to where it began ({cycle}); remove one of them")
            return rest
        there = document if other[0] == file else self._read(other[0])
        services = there.tables.get("services")
        if not isinstance(services, dict) or not isinstance(services.get(other[1]), dict):
            self.findings.wrong(key, f'names "{other[1]}", which is no service of {other[0]}')
            return rest
        if other[0] == file:
            base = self._service(other, there, folder, (*above, named))
        else:
            base = self._service(other, there, other[0].parent, (*above, named))
            base = absolute_service(base, other[0].parent)
        place = ("services", name)
        replaced = frozenset(each for each in document.replaced if each[:2] == place)
        earlier, later = ({"services": {name: each}} for each in (base, rest))
        whole = merged(Document(earlier), Document(later, replaced), self.findings)
        return whole.tables["services"][name]

    def _other(self, key: str, value: Any, file: Path, folder: Path) -> Named | None:
        """Return the file and the service that are named; None if it cannot be."""
        table = {"service": value} if isinstance(value, str) else value
        if not isinstance(table, dict) or not isinstance(table.get("service"), str):
            self.findings.wrong(key, f"must name a service, not {value!r}")
            return None
        unknown = [str(each) for each in table if each not in KEYS]
        if unknown:
            self.findings.wrong(key, f"has {', '.join(unknown)}; there are service and file")
        where = table.get("file")
        if where is None:
            return file, table["service"]
        path = (folder / Path(str(where)).expanduser()).resolve()
        if not path.is_file():
            self.findings.wrong(
                key, f'names "{table["service"]}" of {path}, and there is no such file'
            )
            return None
        return path, table["service"]

    def _read(self, file: Path) -> Document:
        read = read_document(file)
        tables = Interpolation(self.variables, self.findings).all(read.tables)
        return Document(tables, read.replaced)
