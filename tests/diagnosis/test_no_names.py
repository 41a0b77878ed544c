"""Analysis and diagnosis go by evidence: they name no server software and no tier."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tierlab.workloads.kinds import WORKLOADS, servers

SOURCE = Path(__file__).parents[2] / "src" / "tierlab"
SOFTWARE = {kind.kind for _, kind in servers()} | {"nginx", "php_fpm", "postgresql", "pgpool"}
TIERS = {tier for each in WORKLOADS.values() for tier in each.tiers}


def named(text: str) -> list[str]:
    """The names that a string is, or that it has in quotes as SQL has its strings; a server's name
    (`db.1`) as well.
    """
    words = [text, *re.findall(r"'([^']*)'", text)]
    return [each for each in words if re.sub(r"\.\d+$", "", each) in SOFTWARE | TIERS]


def literals(file: Path) -> list[tuple[int, str]]:
    """The strings of a module that are no documentation, with their lines."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
    ]


@pytest.mark.parametrize("room", ["analysis", "diagnosis"])
def test_no_server_and_no_tier_is_named(room):
    files = sorted((SOURCE / room).rglob("*.py"))
    found = [
        f"{file.relative_to(SOURCE)}:{line}: {text!r}"
        for file in files
        for line, text in literals(file)
        if named(text)
    ]
    assert files
    assert not found


ELSEWHERE = {"cache"}
"""Of these a tier has only the name: it is a table, a command, an attribute of libvirt's."""

USERS_OWN = Path("experiment/own_template.py")
"""A file for a user's own servers, whose names are the user's."""


def test_no_tier_is_named_outside_the_workloads():
    found = [
        f"{file.relative_to(SOURCE)}:{line}: {text!r}"
        for file in sorted(SOURCE.rglob("*.py"))
        if file.relative_to(SOURCE).parts[0] != "workloads"
        if file.relative_to(SOURCE) != USERS_OWN
        for line, text in literals(file)
        if re.sub(r"\.\d+$", "", text) in TIERS - ELSEWHERE
    ]
    assert not found


@pytest.mark.parametrize("text", ["mariadb", "tomcat", "db", "db.1", "tier = 'app'"])
def test_a_name_is_seen(text):
    assert named(text)
