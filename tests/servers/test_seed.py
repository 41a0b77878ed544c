"""The seed data's making and keeping."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pymysql.connections import Connection
from pymysql.cursors import Cursor
from talk import LOAD_DAY, SCALE

from tierlab.environments.native.native import Native
from tierlab.errors import UserError
from tierlab.servers.made_once import cache_folder
from tierlab.servers.mariadb_seed import MariaDBSeed
from tierlab.servers.seed import seed_folder
from tierlab.workloads.kinds import WORKLOADS
from tierlab.workloads.workload import DataKey

pytestmark = [pytest.mark.privileged, pytest.mark.slow]


def test_the_seed_is_built_once(native: Native, cache: Path) -> None:
    data = DataKey(SCALE, 7, LOAD_DAY)
    content = WORKLOADS["rubbos"].content(native, data, "corrected")
    assert not list(cache_folder("mariadb").glob("*seed7*"))
    first = seed_folder(native, MariaDBSeed(), content)
    made = first.stat().st_ino
    assert first.is_relative_to(cache)
    assert not list(cache_folder("mariadb").glob(".*")), "nothing half-built remains"
    second = seed_folder(native, MariaDBSeed(), content)
    assert (second, second.stat().st_ino) == (first, made)


def test_a_seed_that_cannot_be_loaded_is_thrown_away(native: Native) -> None:
    class Faulty:
        key = "faulty"

        def load(self, connection: Connection[Cursor]) -> None:
            connection.query("CREATE TABLE wrong (id BLUNDER)")

    data = DataKey(SCALE, 7, LOAD_DAY)
    content = WORKLOADS["rubbos"].content(native, data, "corrected")
    with pytest.raises(UserError, match=r"loading faulty failed \(.*BLUNDER"):
        seed_folder(native, MariaDBSeed(), replace(content, loader=Faulty()))
    assert not list(cache_folder("mariadb").glob("*faulty*"))
