from __future__ import annotations

import csv
from importlib.resources import files

import pytest

from tierlab.workloads.dialect.tables import Dialect, index_ddl, table_ddl
from tierlab.workloads.rubbos.schema import TABLES


@pytest.mark.parametrize("dialect", Dialect)
def test_ddl_is_plain_sql_but_for_the_dialects_words(dialect: Dialect) -> None:
    text = "\n".join([*table_ddl(TABLES, dialect), *index_ddl(TABLES, dialect)])
    assert text.count("CREATE TABLE") == len(TABLES) == 8
    assert "`" not in text
    own = {"AUTO_INCREMENT", "ENGINE", "DATETIME"}
    assert {word for word in own if word in text} == (own if dialect is Dialect.MARIADB else set())


def test_indexes_are_on_columns_of_their_table() -> None:
    for table in TABLES:
        names = {column.name for column in table.columns}
        for columns in (*table.indexes, *table.unique):
            assert set(columns) <= names


@pytest.mark.parametrize(
    ("mix", "reachable"),
    [
        ("browse-only", 11),
        ("browse-only-no-search", 7),
        ("user-default", 17),
        ("user-default-no-search", 13),
        ("author-default", 22),
    ],
)
def test_a_published_mix_reaches_as_many_states_as_published(mix: str, reachable: int) -> None:
    text = (files("tierlab.workloads.rubbos") / "mixes" / f"{mix}.csv").read_text()
    header, *rows = csv.reader(text.splitlines())
    states = header[1:25]
    assert [row[0] for row in rows[:24]] == states
    assert [row[0] for row in rows[24:26]] == ["Back probability", "End of Session"]
    reached, ring = {"StoriesOfTheDay"}, ["StoriesOfTheDay"]
    while ring:
        origin = header.index(ring.pop())
        after = {row[0] for row in rows[:24] if float(row[origin]) > 0} - reached
        reached |= after
        ring += after
    assert len(reached) == reachable
