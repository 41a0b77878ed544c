"""The answer on the terminal: ten lines at most, and why requests took long."""

from rich.console import Console
from rich.text import Text

from tierlab.analysis.summary import Summary
from tierlab.diagnosis import Diagnosis
from tierlab.report.diagnosis import why
from tierlab.report.figures import printable
from tierlab.report.words import Answer, answer

LINES = 10
"""More only where there are several systems or what visits waited for, a line for each, or many
changes.
"""


def lines(said: Answer, found: Diagnosis, where: str) -> list[Text]:
    """Return the answer as at most ten lines, those of the findings beside; ``where`` names the run
    or its page.
    """
    shown = [_line(said.title, style="bold")]
    if said.figures:
        figures = Text("  ")
        for index, (value, what) in enumerate(said.figures):
            figures.append("   " if index else "")
            figures.append(value, style="bold cyan")
            figures.append(f" {what}")
        shown.append(figures)
    shown += [
        _line(f"  {line}")
        for line in (
            *(said.slow, *said.rules, *said.systems),
            *(said.time, said.waits, said.busy, said.queues),
        )
        if line
    ]
    end = [_line(f"  {line}", style="dim") for line in (said.quality, where) if line]
    end = [*(_line(f"  Changed at {each}") for each in said.changes), *end]
    # There is always a line that says at least how many there are.
    room = max(1, LINES + len(said.systems) + bool(said.waits) - len(shown) - len(end))
    warnings = said.warnings
    if len(warnings) > room:
        rest = len(warnings) - room + 1
        warnings = [*warnings[: room - 1], f"... and {rest} more warnings, all in the report."]
    warned = [_line(f"  ! {each}", style="yellow") for each in warnings]
    return [*shown, *why(found), *warned, *end]


def _line(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style)


def show(summary: Summary, found: Diagnosis, console: Console, where: str) -> None:
    """Print the answer. Colours are the console's business: none without a terminal or with
    ``NO_COLOR`` set.
    """
    for line in lines(answer(summary), found, where):
        console.print(line, soft_wrap=True, highlight=False)
