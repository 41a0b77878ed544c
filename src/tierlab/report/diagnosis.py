"""The diagnosis on the terminal."""

from rich.console import Console
from rich.text import Text

from tierlab.diagnosis import Diagnosis, Finding
from tierlab.diagnosis.catalogue import CATALOGUE
from tierlab.report.figures import printable, share
from tierlab.report.profile import binary_name

NO_CAUSE = "no known cause"
MOST_LINKS = 5
MOST_FINDINGS = 3


def show(found: Diagnosis, console: Console, where: str) -> None:
    """Print the answer: each finding with its chain, confidence, exclusions and remedies."""
    for line in lines(found, where):
        console.print(line, soft_wrap=True, highlight=False)


def lines(found: Diagnosis, where: str) -> list[Text]:
    """Return the answer's lines."""
    if not found.findings:
        shown = [_line(f"  {found.words}")]
    else:
        shown = [line for finding in found.findings for line in _finding(finding)]
    if found.missing:
        shown.append(_line(f"  Not measured: {', '.join(found.missing)}.", style="dim"))
    return [*shown, _line(f"  {where}", style="dim")]


def why(found: Diagnosis) -> list[Text]:
    """Return the answer beside a trial's figures: each finding and what to try first."""
    if not found.findings:
        return [_line(f"  {found.words}")]
    shown = []
    for finding in found.findings[:MOST_FINDINGS]:
        shown.append(_head("Why", f"{finding.words} {certainty(finding)}"))
        shown += [_head("Try", f"{each.change}.") for each in finding.remedies[:1]]
    if len(found.findings) > MOST_FINDINGS:
        shown.append(_line(f"        {len(found.findings) - MOST_FINDINGS} more in the report."))
    return shown


def _finding(finding: Finding) -> list[Text]:
    shown = [_head("Why", finding.words)]
    shown += [
        _line(f"        {link.lag_s * 1e3:+.0f} ms: {link.words}.")
        for link in finding.chain[:MOST_LINKS]
    ]
    shown.append(_line(f"        {certainty(finding)}"))
    if finding.unusual is not None:
        shown.append(_line(f"        {rarity(finding)}"))
    shown += [_line(f"        {each}") for each in at_work(finding)]
    shown += [
        _head("Try", f"{each.change}. Expected: {each.expected}.") for each in finding.remedies
    ]
    return shown


def cause_name(cause: str) -> str:
    """Write a cause's identifier as words."""
    return cause.replace("_", " ")


def heading(finding: Finding) -> str:
    """Say in a few words what was found, and where."""
    what = next((each.title for each in CATALOGUE if each.name == finding.cause), NO_CAUSE)
    return f"{what[0].upper()}{what[1:]} at {finding.subject}"


def certainty(finding: Finding) -> str:
    """Say how sure it is, what was ruled out and what was not."""
    parts = [f"Confidence {finding.confidence:.2f}."]
    if out := _names(finding, ruled_out=True):
        parts.append(f"Ruled out: {', '.join(out)}.")
    if left := _names(finding, ruled_out=False):
        parts.append(f"Not ruled out: {', '.join(left)}.")
    return " ".join(parts)


def rarity(finding: Finding) -> str:
    """Say how rare its leading sign is in this run; nothing where that is not known."""
    if finding.unusual is None:
        return ""
    return (
        f"Its leading sign is as strong in {share(finding.unusual)} of equal windows of this run."
    )


def at_work(finding: Finding) -> list[str]:
    """Say which functions had the CPUs more than usual."""
    return [
        f"{share(each.share)} of the CPUs' samples then were of {each.domain} in "
        f"{each.symbol or 'an unknown function'} ({binary_name(each.binary)}),"
        f" {share(each.usual_share)} otherwise."
        for each in finding.functions
    ]


def _names(finding: Finding, *, ruled_out: bool) -> list[str]:
    suspects = finding.ruled_out if ruled_out else finding.not_ruled_out
    others = dict.fromkeys(each.cause for each in suspects if each.cause != finding.cause)
    return [cause_name(each) for each in others]


def _head(word: str, text: str) -> Text:
    line = Text(f"  {word}   ", style="bold")
    line.append(printable(text), style="not bold")
    return line


def _line(text: str, style: str = "") -> Text:
    return Text(printable(text), style=style)
