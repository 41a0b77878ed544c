"""Olio's data set, generated and loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tierlab.workloads.dialect.files import DataSet
from tierlab.workloads.dialect.loader import DataLoader
from tierlab.workloads.olio import draws, generate, population, schema
from tierlab.workloads.text import dictionary, running


@dataclass(frozen=True)
class OlioLoader(DataLoader):
    """Generates a data set as of the load day's beginning, and loads it."""

    name = "olio"
    tables = schema.TABLES
    sources = (dictionary, draws, generate, population, running, schema)

    def generate(self, folder: Path) -> DataSet:
        """Write the data set's files into a folder."""
        size = population.Population.at(self.scale, self.load_day)
        return generate.generate(folder, size, seed=self.seed, scale=self.scale)
