"""The eight tables of Olio.

Columns are the published schema's: times of events are texts there, too. Its table of counters is
left out, since nothing reads it, and so are its foreign keys and an index that repeats a key.
"""

from __future__ import annotations

from tierlab.workloads.dialect.tables import Column, Kind, Table, varchar

USER_NAME_MOST = 25
COMMENT_MOST = 2_500
SUMMARY_MOST = 2_500


def _user(name: str) -> Column:
    return varchar(name, USER_NAME_MOST)


TABLES: tuple[Table, ...] = (
    Table(
        "address",
        (
            Column("addressid", Kind.SERIAL),
            varchar("street1", 55),
            varchar("street2", 55),
            varchar("city", 55),
            varchar("state", 25),
            varchar("zip", 12),
            varchar("country", 55),
            Column("latitude", Kind.DEGREES),
            Column("longitude", Kind.DEGREES),
        ),
    ),
    Table(
        "person",
        (
            Column("userid", Kind.SERIAL),
            _user("username"),
            varchar("password", 25),
            varchar("firstname", 25),
            varchar("lastname", 25),
            varchar("email", 90),
            varchar("telephone", 25),
            varchar("imageurl", 100),
            varchar("imagethumburl", 100),
            varchar("summary", SUMMARY_MOST),
            varchar("timezone", 100),
            Column("address_addressid", Kind.INTEGER),
        ),
        unique=(("username",),),
    ),
    Table(
        "person_person",
        (_user("person_username"), _user("friends_username"), Column("is_accepted", Kind.INTEGER)),
        indexes=(("friends_username",),),
        key=("person_username", "friends_username"),
    ),
    Table(
        "socialevent",
        (
            Column("socialeventid", Kind.SERIAL),
            varchar("title", 100),
            varchar("description", 500),
            _user("submitterusername"),
            Column("address_addressid", Kind.INTEGER),
            Column("totalscore", Kind.INTEGER),
            Column("numberofvotes", Kind.INTEGER),
            varchar("imageurl", 100),
            varchar("imagethumburl", 100),
            varchar("literatureurl", 100),
            varchar("telephone", 25),
            varchar("timezone", 100),
            varchar("eventtimestamp", 25),
            Column("createdtimestamp", Kind.MOMENT),
            Column("disabled", Kind.INTEGER),
            varchar("eventdate", 10),
            varchar("summary", 500),
        ),
        indexes=(
            ("eventdate",),
            ("eventtimestamp",),
            ("createdtimestamp",),
            ("submitterusername",),
        ),
    ),
    Table(
        "person_socialevent",
        (_user("username"), Column("socialeventid", Kind.INTEGER)),
        indexes=(("socialeventid",),),
        key=("username", "socialeventid"),
    ),
    Table(
        "socialeventtag",
        (
            Column("socialeventtagid", Kind.SERIAL),
            varchar("tag", 30),
            Column("refcount", Kind.INTEGER),
        ),
        unique=(("tag",),),
    ),
    Table(
        "socialeventtag_socialevent",
        (Column("socialeventtagid", Kind.INTEGER), Column("socialeventid", Kind.INTEGER)),
        indexes=(("socialeventid",),),
        key=("socialeventtagid", "socialeventid"),
    ),
    Table(
        "comments_rating",
        (
            Column("commentid", Kind.SERIAL),
            _user("username"),
            Column("socialeventid", Kind.INTEGER),
            varchar("comments", COMMENT_MOST),
            Column("ratings", Kind.INTEGER),
            Column("created_at", Kind.MOMENT),
            Column("updated_at", Kind.MOMENT),
        ),
        indexes=(("socialeventid",),),
    ),
)
