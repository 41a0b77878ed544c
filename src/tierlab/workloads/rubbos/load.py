"""RUBBoS's data set, generated and loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tierlab.workloads.dialect.files import DataSet
from tierlab.workloads.dialect.loader import DataLoader
from tierlab.workloads.rubbos import categories, generate, population, schema
from tierlab.workloads.text import dictionary, running


@dataclass(frozen=True)
class RubbosLoader(DataLoader):
    """Generates a data set, which ends with the day before the load day, and loads it."""

    name = "rubbos"
    tables = schema.TABLES
    sources = (categories, dictionary, generate, population, schema, running)

    def generate(self, folder: Path) -> DataSet:
        """Write the data set's files into a folder."""
        return generate.generate(folder, seed=self.seed, scale=self.scale, load_day=self.load_day)
