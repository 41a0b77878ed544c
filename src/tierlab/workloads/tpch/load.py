"""TPC-H's data set, generated and loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tierlab.workloads.dialect.files import DataSet
from tierlab.workloads.dialect.loader import DataLoader
from tierlab.workloads.tpch import generate, schema


@dataclass(frozen=True)
class TpchLoader(DataLoader):
    """Generates the data set of a scale, which no seed and no day changes, and loads it."""

    name = "tpch"
    tables = schema.TABLES
    sources = (generate, schema)

    @property
    def key(self) -> str:
        """Names the scale, and the sources that make the data."""
        return f"{self.name}-scale{self.scale:g}-{self.made_by}"

    def generate(self, folder: Path) -> DataSet:
        """Write the data set's files into a folder."""
        return generate.generate(folder, scale=self.scale, load_day=self.load_day)
