"""Everything that the documentation says can be done is done."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pages import DOCS, ROOT, Block, blocks, pages

from tierlab.cli.verbs import Verbs
from tierlab.errors import UserError
from tierlab.experiment import Experiment
from tierlab.tables.manifest import Manifest
from tierlab.tables.schemas import SCHEMAS, TABLES

BASE = {
    "experiment": {"name": "e"},
    "system": {"workload": "rubbos"},
    "load": {"users": 1},
}
README = ROOT / "README.md"
PAGES = [page for page in pages() if blocks(page)]
FOLLOWED = [page for page in PAGES if page != README]
BUILDS = DOCS / "reference" / "rubbos.md"
"""Builds the application anew, in a copy: trials of other tests start what is there."""
QUICK_BUILD = "-Dmaven.test.skip=true -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""The application's own tests are a stage of the suite."""
SLOW = [page for page in FOLLOWED if any(block.slow for block in blocks(page))]
FURTHER = {
    DOCS / "how-to" / "guests.md": [pytest.mark.environments],
    DOCS / "how-to" / "studies.md": [pytest.mark.environments],
}
"""They build guests' images, and run whole studies."""
SECONDS = 900
CELLS = "cells.py"
"""A page's programs, one after the other, as a notebook's cells go on from those before."""
HURRIED_S = {"ramp_up": 1, "runtime": 3, "ramp_down": 0}
COMPARED = {"runtime": 6}
"""Where trials are compared: of less than 5 s nothing can be said."""


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def workspace(folder: Path, page: Path) -> dict[str, str]:
    """A folder like a fresh clone, set up; the environment to run commands in."""
    for entry in ROOT.iterdir():
        if entry.name == "apps" and page == BUILDS:
            shutil.copytree(entry, folder / entry.name)
        elif entry.name not in {"runs", ".git"}:
            (folder / entry.name).symlink_to(entry)
    scripts = Path(sys.executable).parent
    path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
    maven = f"{QUICK_BUILD} {os.environ.get('MAVEN_OPTS', '')}"
    return os.environ | {"PATH": path, "NO_COLOR": "1", "MAVEN_OPTS": maven}


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


def hurried(text: str, page: Path) -> str:
    """The same file with phases as short as its commands can still be shown with.

    Disturbances and changes need the time that they are stated in.
    """
    if "[[disturb]]" in text or "[[change]]" in text:
        return text
    seconds = HURRIED_S | (COMPARED if "tierlab compare" in page.read_text("utf-8") else {})

    def shortened(phase: re.Match[str]) -> str:
        return f'{phase[1]} = "{seconds[phase[1]]}s"'

    return re.sub(r'\b(ramp_up|runtime|ramp_down) = "\d+s"', shortened, text)


def run_block(block: Block, page: Path, folder: Path, environment: Mapping[str, str]) -> None:
    if block.language == "toml" and block.file is not None:
        (folder / block.file).write_text(hurried(block.text, page), encoding="utf-8")
    elif block.language == "console":
        for command, printed in block.commands():
            if not run_by_ci(command):
                run_command(command, printed, folder, environment)
    elif block.language == "python":
        with (folder / CELLS).open("a", encoding="utf-8") as cells:
            cells.write(block.text)


def run_page(page: Path, folder: Path, *, slow: bool) -> None:
    """Run what takes seconds, or all of the rest: what other blocks need is done for either."""
    environment = workspace(folder, page)
    for block in blocks(page):
        if block.slow == slow or (slow and block.language != "console"):
            run_block(block, page, folder, environment)
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
    [pytest.param(page, marks=FURTHER.get(page, []), id=name(page)) for page in SLOW],
)
def test_a_whole_page_can_be_followed(page: Path, tmp_path: Path) -> None:
    run_page(page, tmp_path, slow=True)


def run_by_ci(command: str) -> bool:
    """Whether CI runs it on its own: it has no need to be run here once more."""
    return f" {command}\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_readmes_commands_are_what_ci_runs() -> None:
    """`make test` cannot be run by the tests that it runs."""
    consoles = [block for block in blocks(README) if block.language == "console"]
    commands = [command for block in consoles for command, _ in block.commands()]

    assert commands
    for command in commands:
        assert run_by_ci(command), command


TOML = [
    pytest.param(block, id=f"{name(page)}:{number}")
    for page in PAGES
    for number, block in enumerate(blocks(page))
    if block.language == "toml"
]


def merged(base: Mapping[str, Any], snippet: Mapping[str, Any]) -> dict[str, Any]:
    """A snippet in the smallest file around it."""
    return dict(base) | {
        key: merged(base[key], value) if isinstance(value, dict) and key in base else value
        for key, value in snippet.items()
    }


@pytest.mark.parametrize("block", TOML)
def test_every_experiment_file_shown_loads_or_is_said_not_to(block: Block) -> None:
    tables = tomllib.loads(block.text)
    if block.file is None:
        tables = merged(BASE, tables)
    if block.loads:
        assert Experiment.from_tables(tables).trials()
    else:
        with pytest.raises(UserError):
            Experiment.from_tables(tables)


@pytest.mark.parametrize("page", pages(), ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))

    for target in targets:
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_every_page_is_in_the_index() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")

    for page in DOCS.rglob("*.md"):
        assert page.name == "README.md" or f"({page.relative_to(DOCS)})" in index


def section(page: str, heading: str) -> str:
    """The text below a second-level heading."""
    text = (DOCS / "reference" / page).read_text(encoding="utf-8")
    parts = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))
    return parts[heading]


def test_the_reference_has_every_key_of_the_manifest() -> None:
    rows = re.findall(r"^\| (`.+?) \|", section("run-folder.md", "manifest.json"), re.MULTILINE)
    documented = {key.strip("` ") for row in rows for key in row.split(",")}

    assert documented == set(Manifest.model_fields)


TYPES = {
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "double": "float64",
    "string": "text",
}


@pytest.mark.parametrize("table", list(SCHEMAS))
def test_the_reference_has_every_column_with_its_type(table: str) -> None:
    row = re.compile(r"^\| `(\w+)` \| ((?:int\d+|float64|text)(?:, null)?) \|", re.MULTILINE)
    rows = row.findall(section("run-folder.md", table))
    columns = [
        (field.name, TYPES[str(field.type)] + (", null" if field.nullable else ""))
        for field in TABLES[table]
    ]

    assert rows == columns


def verbs() -> dict[str, Any]:
    found: dict[str, Any] = {}
    main = Verbs(name="tierlab")
    for verb in main.list_commands(None):
        command = main.get_command(None, verb)
        parts = getattr(command, "commands", None)
        found |= (
            {f"{verb} {part}": each for part, each in parts.items()} if parts else {verb: command}
        )
    return found


def test_the_reference_has_every_verb() -> None:
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    documented = re.findall(r"^## tierlab ([a-z]+(?: [a-z]+)?)", text, re.MULTILINE)

    assert sorted(documented) == sorted(verbs())


@pytest.mark.parametrize("verb", sorted(verbs()))
def test_the_reference_has_every_option(verb: str) -> None:
    command = verbs()[verb]
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    names = [argument.name.upper() for argument in arguments if argument.name]
    options = [o for p in command.params for o in p.opts if o.startswith("--") and o != "--help"]
    shown = [n if a.required else f"[{n}]" for n, a in zip(names, arguments, strict=True)]
    heading = " ".join(["tierlab", verb, *shown])

    rows = re.findall(r"^\| `([^` ]+)", section("cli.md", heading), re.MULTILINE)

    assert sorted(rows) == sorted(names + options)
