"""The page of all papers, written from the studies and from the papers' own files.

`python -m tierlab.studies.papers_page docs/reference` renews it.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tierlab import installation
from tierlab.errors import UserError
from tierlab.studies import papers, published, records
from tierlab.studies.compare import verdict
from tierlab.studies.papers import KINDS, PaperFile, Shown
from tierlab.studies.published import Claim, Published
from tierlab.studies.records import Kept

PAGE = "papers.md"
INTRODUCTION = """\
# Papers, figure by figure

Every figure and table with results of the papers whose experiments Tierlab repeats: what it shows,
what was published, what was measured here, and how the two stand to each other:

* **agrees** or **differs**: the measured value lies within the bounds that the study states, or
  does not. Bounds are set from the paper alone; the line above each in
  `studies/NAME.published.toml` says from what. Where a study was measured several times, *agrees
  in 1 of 2*.
* **not yet run**: a study has the claim and its command is given; no measurement of it is kept.
* **cannot be shown here**: the word behind it is one of the reasons above the paper's table. *Here*
  is a machine with two PUs of one package, which runs no guests and counts no hardware events. A
  last line *the rest* has the reason for what the claims of a figure leave out.

A measured value leads to the page that tells of it, with its circumstances. *Published* is in our
words, with the values that text and tables print; most charts print none. [How to repeat a
published study](../how-to/studies.md) says how to run one.

This page is written by `python -m tierlab.studies.papers_page docs/reference` from
`studies/papers/*.toml` (the figures), `studies/*.published.toml` (the claims) and
`studies/*.measured.toml` (what is kept of the runs).
"""
AGREES, DIFFERS, VARIES, NOT_RUN = "agree", "differ", "agree at times", "not yet run"
STATES = (AGREES, DIFFERS, VARIES, NOT_RUN)


@dataclass(frozen=True)
class Study:
    """A study's claims, and what is kept of its runs."""

    published: Published
    kept: Sequence[Kept]

    def claim(self, measure: str) -> Claim:
        """The claim of a measure."""
        return next(each for each in self.published.claims if each.measure == measure)

    def measured(self, measure: str) -> list[str]:
        """What each run found of it, in words that lead to its record."""
        return [
            f"[{_text(run.values[measure].words)}]({run.record})"
            for run in self.kept
            if measure in run.values
        ]

    def state(self, measure: str) -> tuple[str, str]:
        """How a claim stands: one of `STATES`, and in words."""
        agrees = self.claim(measure).agrees
        found = [
            verdict(agrees, run.values[measure].value) for run in self.kept if measure in run.values
        ]
        if not found:
            return NOT_RUN, ""
        good = found.count("agrees")
        if good == len(found):
            return AGREES, "agrees"
        if not good:
            return DIFFERS, "differs"
        return VARIES, f"agrees in {good} of {len(found)}"


def studies(folder: Path = installation.STUDIES) -> dict[str, Study]:
    """All studies of a folder, by name."""
    found = {}
    for path in sorted(folder.glob(f"*{published.SUFFIX}")):
        name = path.name.removesuffix(published.SUFFIX)
        kept = records.kept(folder / f"{name}.toml")
        found[name] = Study(published.load(path), kept)
    return found


def paper_files(folder: Path = installation.STUDIES) -> list[PaperFile]:
    """All papers, by author and year."""
    found = [papers.load(path) for path in sorted((folder / "papers").glob("*.toml"))]
    return sorted(found, key=lambda paper: (_short(paper), paper.year))


def page(of: Sequence[PaperFile], by_name: Mapping[str, Study]) -> str:
    """Write the page; UserError when papers and studies do not fit together."""
    wrong = papers.mismatches(of, {name: each.published for name, each in by_name.items()})
    if wrong:
        raise UserError(f"the papers' files do not fit the studies: {' '.join(wrong)}")
    parts = [INTRODUCTION, _overview(of, by_name)]
    parts += ["\n".join(_paper(paper, by_name)) + "\n" for paper in of]
    return "\n".join(parts)


def _overview(of: Iterable[PaperFile], by_name: Mapping[str, Study]) -> str:
    """How much of each paper there is."""
    columns = ("paper", "with results", "of these with claims", "claims", *STATES)
    lines = [_row(*columns), "|---" * len(columns) + "|"]
    for paper in of:
        claimed = [item for item in paper.results if item.claims]
        claims = dict.fromkeys(_claims(claimed))
        states = Counter(by_name[name].state(measure)[0] for name, measure in claims)
        lines.append(
            _row(
                f"[{_short(paper)}](#{_anchor(paper)})",
                _counted(paper.results),
                _counted(claimed),
                str(len(claims)),
                *(str(states[state]) for state in STATES),
            )
        )
    return "\n".join(lines) + "\n"


def _counted(items: Sequence[Shown]) -> str:
    """How many figures and tables; parts of one are one."""
    found = []
    for kind in KINDS:
        count = len({each.place[1] for each in items if each.kind == kind})
        if count:
            found.append(f"{count} {kind}{'s' if count > 1 else ''}")
    return ", ".join(found) or "none"


def _claims(items: Iterable[Shown]) -> Iterator[tuple[str, str]]:
    """Study and measure of each claim, as often as an item names it."""
    for item in items:
        for name, measures in item.claims.items():
            for measure in measures:
                yield name, measure


def _paper(paper: PaperFile, by_name: Mapping[str, Study]) -> Iterator[str]:
    yield f"## {_short(paper)}"
    yield ""
    yield f'{paper.author}, "{paper.title}" ({paper.where}, {paper.year}).'
    yield ""
    for name in dict.fromkeys(name for name, _ in _claims(paper.results)):
        yield f"* `{name}`: {_text(_study(by_name[name]))}"
    if paper.no_results:
        said = (f"{each.kind} {each.number} ({each.shows})" for each in _sorted(paper.no_results))
        yield f"* Without results: {_text(', '.join(said))}."
    for reason, words in paper.reasons.items():
        yield f"* Not shown here, *{_spoken(reason)}*: {_text(words)}."
    yield ""
    yield _row("", "shows, or claims", "published", "measured here", "verdict")
    yield "|---|---|---|---|---|"
    for item in _sorted(paper.results):
        yield from _item(item, by_name)


def _study(study: Study) -> str:
    """What it is here, and when it was measured."""
    runs = (f"{run.when}, {run.form}, on {run.machine}" for run in study.kept)
    measured = "; ".join(runs)
    return f"{study.published.paper.here}." + (f" Measured {measured}." if measured else "")


Of = TypeVar("Of", bound=papers.Item)


def _sorted(items: Sequence[Of]) -> list[Of]:
    return sorted(items, key=lambda each: each.place)


def _item(item: Shown, by_name: Mapping[str, Study]) -> Iterator[str]:
    """The rows of a figure: one for itself, one for each claim, one for what these leave out."""
    name, shows, printed = f"{item.kind} {item.number}", _text(item.shows), _text(item.published)
    why = None if item.why is None else _spoken(item.why)
    if not item.claims:
        yield _row(name, shows, printed, "not measured", f"cannot be shown here: *{why}*")
        return
    yield _row(name, shows, printed, "", "")
    for study, measure in _claims([item]):
        found = by_name[study]
        claim, words = found.claim(measure), found.state(measure)[1]
        measured = "; ".join(found.measured(measure)) or "not measured"
        state = f"**{words}**" if words else f"not yet run: `tierlab study {study}`"
        yield _row("", f"`{study}`: {_text(claim.seen)}", _text(claim.value), measured, state)
    if why is not None:
        yield _row("", "the rest", "", "not measured", f"not shown here: *{why}*")


def _spoken(reason: str) -> str:
    return reason.replace("-", " ")


def _text(words: str) -> str:
    """Words that Markdown is to leave as they are."""
    return words.replace("*", "\\*").replace("|", "\\|")


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _short(paper: PaperFile) -> str:
    first, *others = paper.author.split(", ")
    return f"{first.split()[-1]}{' et al.' if others else ''} ({paper.year})"


def _anchor(paper: PaperFile) -> str:
    """As a heading's link is called."""
    kept = (each for each in _short(paper).lower() if each.isalnum() or each in " -")
    return "".join(kept).replace(" ", "-")


def main() -> None:
    """Write the page into the folder that is named."""
    (folder,) = map(Path, sys.argv[1:])
    (folder / PAGE).write_text(page(paper_files(), studies()), encoding="utf-8")


if __name__ == "__main__":
    main()
