"""Everything that the documentation says can be done is done."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pages import DOCS, ROOT, Block, blocks, pages

from tierlab.analysis.comparing.changes import SETTLED_NS
from tierlab.analysis.comparing.compare import FEWEST_BLOCKS
from tierlab.errors import UserError
from tierlab.experiment import Experiment
from tierlab.trial.truth import TruthFolder
from tierlab.values.quantities import SECOND
from tierlab.values.toml import as_toml

BASE = {
    "experiment": {"name": "e"},
    "system": {"workload": "rubbos"},
    "load": {"users": 1},
}
README = ROOT / "README.md"
PAGES = [page for page in pages() if blocks(page)]
FOLLOWED = [page for page in PAGES if page != README]
BUILT = {"mvn -q -B -f apps/rubbos/pom.xml package": "@cd apps/rubbos && MAVEN_OPTS="}
"""Commands that set-up has run in other words, which are a line of the Makefile."""
MAKES = "mkdir "
"""How a command begins that makes the files which a page's experiments name."""
SLOW = [page for page in FOLLOWED if any(block.slow for block in blocks(page))]
FURTHER = {
    DOCS / "how-to" / f"{each}.md": [pytest.mark.environments]
    for each in ("compare", "factors", "guests", "own", "studies")
}
"""They build guests' and containers' images, and run whole sweeps and studies."""
SECONDS = 900
CELLS = "cells.py"
"""A page's programs, one after the other, as a notebook's cells go on from those before."""
SHORTER = {
    "tierlab study transient-events": " --set 'load.phases.ramp_up=\"5s\"'"
    " --set 'load.phases.runtime=\"30s\"'"
    ' --set \'disturb=[{class="memory", on="db.1", at="7s", every="15s", count=2, take="200MiB",'
    ' duration="300ms"}]\''
}
"""What makes a study of a page's shorter, whose file is not in the page."""
HURRIED_S = {"ramp_up": 0, "runtime": 2, "ramp_down": 0, "at": 1}
COMPARED_S = HURRIED_S | {"runtime": 6}
"""Where trials are compared: of less than 5 s nothing can be said."""
DISTURBED_S = {"runtime": 4, "ramp_down": 0}
DRAWN_S = {"runtime": 8, "ramp_down": 0}
"""Disturbances need five seconds to be prepared, and those that are drawn their distance."""
RUN = re.compile(r"tierlab run (\S+)")
TOGETHER = {
    "users": [
        DOCS / "tutorial.md",
        *(DOCS / "how-to" / f"{each}.md" for each in ("diagnose", "notebook", "placement")),
        *(DOCS / "how-to" / f"{each}.md" for each in ("profile", "soft-resources", "waits")),
    ],
    "disturbed": [DOCS / "how-to" / "disturb.md"],
    "rates": [DOCS / "how-to" / f"{each}.md" for each in ("load-shapes", "open-loop")],
}
"""What they ask of one system stands in one experiment, whose trial all of them read."""
ANY_SYSTEM = [
    DOCS / "how-to" / f"{each}.md" for each in ("environments", "load-shapes", "open-loop")
]
"""What they show is the same of any system: one server is started in place of four tiers."""


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def workspace(folder: Path) -> dict[str, str]:
    """A folder like a fresh clone, set up; the environment to run commands in."""
    for entry in ROOT.iterdir():
        if entry.name not in {"runs", ".git"}:
            (folder / entry.name).symlink_to(entry)
    scripts = Path(sys.executable).parent
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PATH": path, "NO_COLOR": "1"}


def run_command(command: str, printed: str, folder: Path, environment: Mapping[str, str]) -> None:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    if printed:
        # doctest's checker takes `...` for anything, but not for nothing at the end of a line.
        same = doctest.OutputChecker().check_output(
            printed, done.stdout or "\n", doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        )
        assert same, f"{command}\nprinted\n{done.stdout}\nand not\n{printed}"


def slow_commands(page: Path) -> list[str]:
    consoles = [each for each in blocks(page) if each.slow and each.language == "console"]
    return [command for console in consoles for command, _ in console.commands()]


def tables_of(page: Path, file: str) -> dict[str, Any]:
    """What a file of the page's has in it."""
    (text,) = [block.text for block in blocks(page) if block.file == file]
    return tomllib.loads(text)


def keys_of(tables: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Keys with dots in them, each with its value."""
    for key, value in tables.items():
        if isinstance(value, dict):
            yield from keys_of(value, f"{before}{key}.")
        else:
            yield before + key, value


def hurried(text: str, page: Path) -> str:
    """The same file with times as short as its commands can still be shown with."""
    if page in ANY_SYSTEM:
        text = text.replace('workload = "rubbos"', 'workload = "static"')
    if "[[disturb]]" in text or "disturb = [" in text:
        seconds = DRAWN_S if 'class = "random"' in text else DISTURBED_S
    else:
        seconds = COMPARED_S if "tierlab compare" in page.read_text("utf-8") else HURRIED_S

    def shortened(time: re.Match[str]) -> str:
        return f'{time[1]} = "{seconds[time[1]]}s"'

    return re.sub(rf'\b({"|".join(seconds)}) = "\d+s"', shortened, text)


def write_file(block: Block, text: str, folder: Path) -> None:
    file = folder / str(block.file)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def run_block(
    block: Block,
    page: Path,
    folder: Path,
    environment: Mapping[str, str],
    made: Path | None = None,
) -> None:
    """`made` is a trial that was made already, of what the page runs and more."""
    if block.file is not None:
        write_file(block, hurried(block.text, page), folder)
    elif block.language == "console":
        for command, printed in block.commands():
            run = RUN.match(command)
            if made and run:
                place = folder / "runs" / str(tables_of(page, run[1])["experiment"]["name"])
                for part in (made, TruthFolder.of(made).path):
                    if part.exists():
                        shutil.copytree(part, place / part.name)
            elif not run_by_ci(command):
                shorter = command + SHORTER.get(command, "")
                run_command(shorter, printed, folder, environment)
    elif block.language == "python":
        with (folder / CELLS).open("a", encoding="utf-8") as cells:
            cells.write(block.text)


def run_page(page: Path, folder: Path, *, slow: bool, made: Path | None = None) -> None:
    """Run what takes seconds, or all of the rest: what other blocks need is done for either."""
    environment = workspace(folder)
    for block in blocks(page):
        if block.slow == slow or (slow and block.language != "console"):
            run_block(block, page, folder, environment, made)
    if (folder / CELLS).exists():
        run_command(f"python {CELLS}", "", folder, environment)


@pytest.mark.parametrize("page", FOLLOWED, ids=name)
def test_quick_commands_do_what_the_page_says(page: Path, tmp_path: Path) -> None:
    run_page(page, tmp_path, slow=False)


@pytest.mark.slow
@pytest.mark.privileged
@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=FURTHER.get(page, []), id=name(page))
        for page in SLOW
        if not any(page in group for group in TOGETHER.values())
    ],
)
def test_a_whole_page_can_be_followed(page: Path, tmp_path: Path) -> None:
    run_page(page, tmp_path, slow=True)


@pytest.mark.slow
@pytest.mark.privileged
@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize("group", TOGETHER)
def test_pages_that_ask_of_one_system_can_be_followed(group: str, tmp_path: Path) -> None:
    """One trial has what each of them asks for, and is then read as each of them does it."""
    pages = TOGETHER[group]
    tables: dict[str, Any] = {}
    for page in pages:
        for run in (RUN.match(command) for command in slow_commands(page)):
            if run:
                tables = merged(tables, tables_of(page, run[1]))
    tables["experiment"] = {"name": "together"}
    text = "".join(f"{key} = {as_toml(value)}\n" for key, value in keys_of(tables))
    (tmp_path / "together.toml").write_text(hurried(text, pages[0]), encoding="utf-8")
    run_command("tierlab run together.toml", "...\n", tmp_path, workspace(tmp_path))

    for page in pages:
        (tmp_path / page.stem).mkdir()
        run_page(page, tmp_path / page.stem, slow=True, made=tmp_path / "runs/together/001")


def run_by_ci(command: str) -> bool:
    """Whether CI or set-up runs it on its own: it has no need to be run here once more."""
    if command in BUILT:
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
        (line,) = [each for each in makefile if BUILT[command] in each]
        return line.endswith(" package")
    return f" {command}\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_readmes_commands_are_what_ci_runs() -> None:
    """`make test` cannot be run by the tests that it runs."""
    consoles = [block for block in blocks(README) if block.language == "console"]
    commands = [command for block in consoles for command, _ in block.commands()]

    assert commands
    for command in commands:
        assert run_by_ci(command), command


TOML = [
    pytest.param(page, block, id=f"{name(page)}:{number}")
    for page in PAGES
    for number, block in enumerate(blocks(page))
    if block.language == "toml"
]


def merged(base: Mapping[str, Any], snippet: Mapping[str, Any]) -> dict[str, Any]:
    """A snippet in the smallest file around it; arrays of tables are those of both."""
    return dict(base) | {
        key: _merged(base[key], value) if key in base else value for key, value in snippet.items()
    }


def _merged(before: Any, value: Any) -> Any:
    match before, value:
        case dict(), dict():
            return merged(before, value)
        case [dict(), *_], [dict(), *_]:
            return [*before, *value]
    return value


@pytest.mark.parametrize(("page", "block"), TOML)
def test_every_experiment_file_shown_loads_or_is_said_not_to(
    page: Path, block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in slow_commands(page):
        if command.startswith(MAKES):
            subprocess.run(command, shell=True, check=True)
    for each in blocks(page):
        if each.language == "text" and each.file is not None:
            write_file(each, each.text, tmp_path)
    tables = tomllib.loads(block.text)
    if block.file is None:
        tables = merged(BASE, tables)
    if block.loads:
        assert Experiment.from_tables(tables).trials()
    else:
        with pytest.raises(UserError):
            Experiment.from_tables(tables)


@pytest.mark.parametrize(
    "block", [each.values[1] for each in TOML if "[[change]]" in each.values[1].text]
)
def test_of_a_change_shown_enough_is_left_to_compare(block: Block) -> None:
    tables = tomllib.loads(block.text)
    for trial in Experiment.from_tables(merged(BASE, tables)).trials():
        moments = [0, *(each.at_ns for each in trial.change), trial.load.phases.runtime_ns]
        needed = [
            FEWEST_BLOCKS * SECOND,
            *(FEWEST_BLOCKS * SECOND + SETTLED_NS for _ in trial.change),
        ]
        assert all(b - a >= least for (a, b), least in zip(pairwise(moments), needed, strict=True))


@pytest.mark.parametrize("page", pages(), ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))

    for target in targets:
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")

    for page in DOCS.rglob("*.md"):
        assert page.name == "README.md" or f"({page.relative_to(DOCS)})" in index
