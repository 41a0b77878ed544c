"""Which PostgreSQL a seed is made by."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierlab.errors import UserError
from tierlab.servers.postgresql_seed import PostgreSQLSeed


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file of a `postgres` that is found before all others."""
    program = tmp_path / "postgres"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return program


def test_the_seed_is_of_the_servers_version(says: Path) -> None:
    says.write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 18.3 (Debian 18.3-1)'\n")
    assert PostgreSQLSeed().version().startswith("18.3-")


def test_a_server_that_is_too_old_is_a_sentence(says: Path) -> None:
    says.write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 14.9'\n")
    with pytest.raises(UserError) as raised:
        PostgreSQLSeed().version()
    assert str(raised.value).startswith(f"{says} is PostgreSQL 14.9, ")
