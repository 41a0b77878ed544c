"""RUBiS's data set, generated and loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tierlab.workloads.dialect.files import DataSet
from tierlab.workloads.dialect.loader import DataLoader
from tierlab.workloads.rubis import auctions, generate, places, population, schema
from tierlab.workloads.text import dictionary, running


@dataclass(frozen=True)
class RubisLoader(DataLoader):
    """Generates a data set as of the load day's beginning, and loads it."""

    name = "rubis"
    tables = schema.TABLES
    sources = (auctions, dictionary, generate, places, population, running, schema)

    def generate(self, folder: Path) -> DataSet:
        """Write the data set's files into a folder."""
        return generate.generate(folder, seed=self.seed, scale=self.scale, load_day=self.load_day)
