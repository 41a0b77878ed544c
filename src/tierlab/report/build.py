"""From a run folder to its report."""

from dataclasses import dataclass
from pathlib import Path

from tierlab.analysis.observed import observe
from tierlab.analysis.summary import Summary, summarise
from tierlab.diagnosis import Diagnosis, diagnose
from tierlab.report.against import compared
from tierlab.report.page import render
from tierlab.report.panels import panels
from tierlab.report.profile import flames
from tierlab.report.replace import replace
from tierlab.report.slowest import slowest
from tierlab.report.stored import store, store_diagnosis
from tierlab.tables.run import Run

NAME = "report.html"


@dataclass(frozen=True)
class Report:
    """A run's figures, why some requests took long, and the page that shows both."""

    summary: Summary
    diagnosis: Diagnosis
    page: Path


def build(folder: Path, against: Path | None = None) -> Report:
    """Analyse the run in ``folder`` and write its report.html, findings.json and summary.json.
    ``against`` is another run, whose profile this one's is held against.

    Raises :class:`UserError` when it is not a run folder or one of them cannot be written.
    """
    observed = observe(Run(folder))
    summary = summarise(observed)
    diagnosis = diagnose(observed)
    charts = panels(observed, summary, diagnosis.findings)
    graphs = flames(observed, summary.profile)
    other = None if against is None else compared(observed, observe(Run(against)))
    manifest = observed.run.manifest
    text = render(
        *(summary, diagnosis, manifest, charts),
        flames=graphs,
        against=other,
        slowest=slowest(observed, summary),
    )
    page = folder / NAME
    replace(page, text)
    store_diagnosis(diagnosis, folder)
    store(summary, folder)
    return Report(summary, diagnosis, page)
