"""The eight tables of RUBiS.

Columns are the published schema's, without the table of counters that one of its variants needs,
and with exact amounts of money instead of floating-point ones. The indexes are those that the pages
need: the published ones lack the composites that let a list be read in its order, and end dates,
by which every list is chosen.
"""

from __future__ import annotations

from tierlab.workloads.dialect.tables import Column, Kind, Table, varchar


def _item_table(name: str, key: Kind, *indexes: tuple[str, ...], numbered_after: str = "") -> Table:
    return Table(
        name,
        (
            Column("id", key),
            varchar("name", 100),
            Column("description", Kind.TEXT),
            Column("initial_price", Kind.MONEY),
            Column("quantity", Kind.INTEGER),
            Column("reserve_price", Kind.MONEY),
            Column("buy_now", Kind.MONEY),
            Column("nb_of_bids", Kind.INTEGER),
            Column("max_bid", Kind.MONEY),
            Column("start_date", Kind.MOMENT),
            Column("end_date", Kind.MOMENT),
            Column("seller", Kind.INTEGER),
            Column("category", Kind.INTEGER),
        ),
        indexes=(("seller", "end_date"), *indexes),
        numbered_after=numbered_after,
    )


TABLES: tuple[Table, ...] = (
    Table("categories", (Column("id", Kind.INTEGER), varchar("name", 50))),
    Table("regions", (Column("id", Kind.INTEGER), varchar("name", 25))),
    Table(
        "users",
        (
            Column("id", Kind.SERIAL),
            varchar("firstname", 20),
            varchar("lastname", 20),
            varchar("nickname", 20),
            varchar("password", 20),
            varchar("email", 50),
            Column("rating", Kind.INTEGER),
            Column("balance", Kind.MONEY),
            Column("creation_date", Kind.MOMENT),
            Column("region", Kind.INTEGER),
        ),
        indexes=(("region",),),
        unique=(("nickname",),),
    ),
    _item_table("old_items", Kind.INTEGER),
    _item_table("items", Kind.SERIAL, ("category", "end_date"), numbered_after="old_items"),
    Table(
        "bids",
        (
            Column("id", Kind.SERIAL),
            Column("user_id", Kind.INTEGER),
            Column("item_id", Kind.INTEGER),
            Column("qty", Kind.INTEGER),
            Column("bid", Kind.MONEY),
            Column("max_bid", Kind.MONEY),
            Column("date", Kind.MOMENT),
        ),
        indexes=(("item_id", "bid"), ("user_id", "item_id")),
    ),
    Table(
        "comments",
        (
            Column("id", Kind.SERIAL),
            Column("from_user_id", Kind.INTEGER),
            Column("to_user_id", Kind.INTEGER),
            Column("item_id", Kind.INTEGER),
            Column("rating", Kind.INTEGER),
            Column("date", Kind.MOMENT),
            Column("comment", Kind.TEXT),
        ),
        indexes=(("to_user_id", "date"),),
    ),
    Table(
        "buy_now",
        (
            Column("id", Kind.SERIAL),
            Column("buyer_id", Kind.INTEGER),
            Column("item_id", Kind.INTEGER),
            Column("qty", Kind.INTEGER),
            Column("date", Kind.MOMENT),
        ),
        indexes=(("buyer_id", "date"),),
    ),
)
