"""A run folder in a notebook: tables with timestamps, figures, findings, and its own look."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from pathlib import Path

import duckdb
import pandas as pd

from tierlab.analysis.observed import Observed, observe
from tierlab.analysis.queues.congestion_point import CongestionPoint
from tierlab.analysis.resources.alternating import Alternation
from tierlab.analysis.summary import Summary, summarise
from tierlab.diagnosis import Diagnosis, Finding, diagnose
from tierlab.errors import StillRunningError, UserError
from tierlab.notebook import further
from tierlab.report.frame import environment
from tierlab.report.stored import stored_diagnosis, stored_summary
from tierlab.report.words import answer
from tierlab.tables.run import Run
from tierlab.tables.schemas import INSTANTS, TABLES
from tierlab.trial.complete import complete


class OpenedRun(Run):
    """One trial's folder, for somebody who looks at it.

    ``run.requests``, ``run.visits``, ``run.cpu`` ... are Ibis tables; beside each instant in
    nanoseconds (``end_ns``, ``t_ns``) they have it as a timestamp in UTC (``end_time``, ``time``).
    ``run.summary`` has the figures of the report, ``run.findings`` why some requests took long,
    ``run.manifest`` what the trial was; ``run.connect()`` is a DuckDB connection on which each
    table is a view. A trial that was killed is finished first; one that still runs is opened as it
    is, with what it has.
    """

    def __init__(self, path: Path) -> None:
        with suppress(StillRunningError):
            complete(path)
        super().__init__(path)

    def _shown(self) -> duckdb.DuckDBPyConnection:
        """Give the tables their timestamps, to the microsecond.

        Those of :meth:`connect` have none: DuckDB needs pytz to give such a value to Python itself.
        """
        connection = self.connect()
        for name in self.tables:
            instants = [column for column in TABLES[name].names if column in INSTANTS]
            more = ", ".join(f"{as_timestamp(each)} AS {INSTANTS[each]}" for each in instants)
            connection.execute(f"ALTER VIEW {name} RENAME TO measured_{name}")
            connection.execute(f"CREATE VIEW {name} AS SELECT *, {more} FROM measured_{name}")
        return connection

    @cached_property
    def summary(self) -> Summary:
        """The figures as the trial's last report has them; computed where there is none."""
        found = stored_summary(self.path)
        return summarise(self._observed) if found is None else found

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """The findings with their verdict, and what would have made them surer."""
        found = stored_diagnosis(self.path)
        return diagnose(self._observed) if found is None else found

    @property
    def findings(self) -> list[Finding]:
        """Why some requests took long, the one that made them wait the most first."""
        return self.diagnosis.findings

    @cached_property
    def long_requests(self) -> pd.DataFrame:
        """Where the seconds of each very long request went: :func:`further.long_requests`."""
        return further.long_requests(self._observed)

    @cached_property
    def waits(self) -> pd.DataFrame:
        """What visits waited for at each server: :func:`further.waits`."""
        return further.waits(self.summary.waits)

    @cached_property
    def congestion_points(self) -> list[CongestionPoint]:
        """From how many visits in progress on each server finishes no more work."""
        return further.congestion(self._observed)

    @cached_property
    def alternations(self) -> list[Alternation]:
        """Whether any two resources take turns in being the bottleneck."""
        return further.turns(self._observed)

    @cached_property
    def _observed(self) -> Observed:
        return observe(Run(self.path))

    def _repr_html_(self) -> str:
        """Return the run's answer in a few lines, as a notebook shows it."""
        template = environment().get_template("run.html.j2")
        try:
            said, found = answer(self.summary), self.diagnosis
        except UserError as error:
            return template.render(run=self, said=None, diagnosis=None, error=str(error))
        return template.render(run=self, said=said, diagnosis=found, error=None)


def as_timestamp(column: str) -> str:
    """Return the SQL of nanoseconds as a timestamp in UTC, whatever the session's time zone."""
    return f"timezone('UTC', make_timestamp_ns({column})::TIMESTAMP)"
