"""A study's table of what was published and what is measured: one page, and on the terminal.

The page is one trial's, or that of all trials of a study with cases.
"""

from pathlib import Path

from markupsafe import Markup
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tierlab.analysis.observed import observe
from tierlab.report.build import Report
from tierlab.report.case_charts import case_charts
from tierlab.report.figures import number, printable, seconds
from tierlab.report.frame import environment, part, policy, scripts_of
from tierlab.report.ground import warning
from tierlab.report.panels import panels
from tierlab.report.payload import charts, embed
from tierlab.report.replace import replace
from tierlab.studies import Comparison, Published, compare, compare_cases
from tierlab.studies.gather import gather
from tierlab.studies.published import Bounds
from tierlab.tables.run import Run

NAME = "study.html"
STYLES = {"agrees": "green", "differs": "bold yellow", "not measured": "dim"}


def build_study(made: Report, published: Published) -> Comparison:
    """Compare a reported run with what was published, and write ``study.html`` beside its report.

    Raises :class:`UserError` when the page cannot be written.
    """
    folder = made.page.parent
    observed = observe(Run(folder))
    comparison = compare(observed, published)
    drawn = panels(observed, made.summary, made.diagnosis.findings)
    scripts = scripts_of(drawn)
    template = environment().get_template("study.html.j2")
    text = template.render(
        title=_title(comparison),
        comparison=comparison,
        summary=made.summary,
        panels=drawn,
        data=Markup(embed(charts(drawn))) if drawn is not None and drawn.panels else None,
        style=Markup(part("style.css")),
        scripts=[Markup(each) for each in scripts],
        policy=policy(scripts),
        bounds=bounds,
    )
    replace(folder / NAME, text)
    return comparison


def build_cases(folder: Path, published: Published) -> Comparison:
    """Compare the trials in an experiment's folder with what was published, and write
    ``study.html`` there.

    Raises :class:`UserError` when there is no trial, or the page cannot be written.
    """
    cases = gather(folder, published)
    comparison = compare_cases(folder.resolve().name, cases, published)
    manifests = [trial.manifest for case in cases.cases for trial in case.trials]
    text = (
        environment()
        .get_template("cases.html.j2")
        .render(
            title=_title(comparison),
            comparison=comparison,
            warning=warning(comparison.ground),
            drawn=case_charts(cases, published),
            environments=sorted({each.environment for each in manifests}),
            trials=sorted(each.trial for each in manifests),
            style=Markup(part("style.css")),
            policy=policy([]),
            bounds=bounds,
            figure=_figure,
        )
    )
    replace(folder / NAME, text)
    return comparison


def _figure(value: float | None) -> str:
    return "-" if value is None else number(value)


def _title(comparison: Comparison) -> str:
    name = comparison.experiment
    whole = name if comparison.trial is None else f"{name}/{comparison.trial}"
    return f"{whole}: published and measured"


def bounds(agree: Bounds) -> str:
    """Write which values agree.

    >>> bounds(Bounds(least=0.15, most=0.6)), bounds(Bounds(most=0.73)), bounds(Bounds(least=2))
    ('0.15 to 0.6', '0.73 or less', '2 or more')
    """
    if agree.least is None:
        return f"{number(agree.most or 0.0)} or less"
    if agree.most is None:
        return f"{number(agree.least)} or more"
    low, high = number(agree.least), number(agree.most)
    return low if low == high else f"{low} to {high}"


def show(comparison: Comparison, console: Console, where: str) -> None:
    """Print the comparison as a table, and how many rows agree; ``where`` names the page."""
    table = Table(title=printable(_title(comparison)), title_justify="left", show_lines=True)
    for name, ratio in (("figure", 1), ("published", 4), ("measured", 4), ("verdict", 1)):
        table.add_column(name, ratio=ratio, overflow="fold")
    for row in comparison.rows:
        table.add_row(
            Text(printable(row.figure)),
            Text(printable(f"{row.seen} ({row.published})")),
            Text(printable(row.measured.words)),
            Text(row.verdict, style=STYLES[row.verdict]),
        )
    console.print(table)
    if comparison.cases:
        console.print(_cases(comparison))
    agree, differ, rest = (
        comparison.count(verdict) for verdict in ("agrees", "differs", "not measured")
    )
    console.print(Text(f"  {agree} agree, {differ} differ, {rest} not measured"))
    if (warned := warning(comparison.ground)) is not None:
        console.print(Text(f"  ! {printable(warned)}", style="yellow"), soft_wrap=True)
    console.print(Text(f"  {printable(where)}", style="dim"), soft_wrap=True)


def _cases(comparison: Comparison) -> Table:
    table = Table(title="case by case", title_justify="left")
    for name in ("case", "printed", "runs", "DNU", "requests/s", "ADIN", "MMR", "response"):
        table.add_column(name, overflow="fold")
    for case in comparison.cases:
        printed = ", ".join(f"{name} {value}" for name, value in case.printed.items())
        figures = (case.dnu, case.throughput, case.adin, case.mmr)
        table.add_row(
            printable(case.name),
            printable(printed),
            str(len(case.runs)),
            *map(_figure, figures),
            seconds(case.response_s),
        )
    return table
