"""The eight tables of RUBBoS, once, for every dialect of SQL it runs on.

Columns and table pairs are the published schema's. The indexes are those that the pages need on
InnoDB: the published ones lack the composites that let a list be read in order, and every secondary
index of InnoDB ends in the primary key, which gives the stable order of equal dates.
"""

from __future__ import annotations

from tierlab.workloads.dialect.tables import Column, Kind, Table, varchar


def _story_table(name: str, *indexes: tuple[str, ...], after: str = "") -> Table:
    return Table(
        name,
        (
            Column("id", Kind.SERIAL),
            varchar("title", 100, prefix_searched=True),
            Column("body", Kind.TEXT),
            Column("date", Kind.MOMENT),
            Column("writer", Kind.INTEGER),
            Column("category", Kind.INTEGER),
        ),
        indexes=(("date",), *indexes),
        numbered_after=after,
    )


def _comment_table(name: str, after: str = "") -> Table:
    return Table(
        name,
        (
            Column("id", Kind.SERIAL),
            Column("writer", Kind.INTEGER),
            Column("story_id", Kind.INTEGER),
            Column("parent", Kind.INTEGER),
            Column("childs", Kind.INTEGER),
            Column("rating", Kind.INTEGER),
            Column("date", Kind.MOMENT),
            varchar("subject", 100, prefix_searched=True),
            Column("comment", Kind.TEXT),
        ),
        # The second finds the stories of a search without reading the comments, which are long.
        indexes=(("story_id", "parent", "rating"), ("subject", "story_id")),
        numbered_after=after,
    )


TABLES: tuple[Table, ...] = (
    Table("categories", (Column("id", Kind.INTEGER), varchar("name", 50))),
    Table(
        "users",
        (
            Column("id", Kind.SERIAL),
            varchar("firstname", 20),
            varchar("lastname", 20),
            varchar("nickname", 20, prefix_searched=True),
            varchar("password", 20),
            varchar("email", 50),
            Column("rating", Kind.INTEGER),
            Column("access", Kind.INTEGER),
            Column("creation_date", Kind.MOMENT),
        ),
        unique=(("nickname",),),
    ),
    _story_table("stories", ("category", "date"), ("writer",), ("title",), after="old_stories"),
    _story_table("old_stories", ("writer",), ("title",)),
    _story_table("submissions"),
    _comment_table("comments", after="old_comments"),
    _comment_table("old_comments"),
    Table(
        "moderator_log",
        (
            Column("id", Kind.SERIAL),
            Column("moderator_id", Kind.INTEGER),
            Column("comment_id", Kind.INTEGER),
            Column("rating", Kind.INTEGER),
            Column("date", Kind.MOMENT),
        ),
        indexes=(("comment_id",),),
    ),
)
