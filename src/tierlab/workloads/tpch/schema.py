"""The eight tables, with their primary and foreign keys and an index on what each refers by.

Source: TPC Benchmark H, Standard Specification, clause 1.4; indexes on foreign keys are allowed by
clause 1.5.4.
"""

from __future__ import annotations

from tierlab.workloads.dialect.tables import Column, Kind, Reference, Table, char, varchar

TABLES: tuple[Table, ...] = (
    Table(
        "region",
        (Column("r_regionkey", Kind.INTEGER), char("r_name", 25), varchar("r_comment", 152)),
    ),
    Table(
        "nation",
        (
            Column("n_nationkey", Kind.INTEGER),
            char("n_name", 25),
            Column("n_regionkey", Kind.INTEGER),
            varchar("n_comment", 152),
        ),
        indexes=(("n_regionkey",),),
        references=(Reference(("n_regionkey",), "region"),),
    ),
    Table(
        "part",
        (
            Column("p_partkey", Kind.INTEGER),
            varchar("p_name", 55),
            char("p_mfgr", 25),
            char("p_brand", 10),
            varchar("p_type", 25),
            Column("p_size", Kind.INTEGER),
            char("p_container", 10),
            Column("p_retailprice", Kind.MONEY),
            varchar("p_comment", 23),
        ),
    ),
    Table(
        "supplier",
        (
            Column("s_suppkey", Kind.INTEGER),
            char("s_name", 25),
            varchar("s_address", 40),
            Column("s_nationkey", Kind.INTEGER),
            char("s_phone", 15),
            Column("s_acctbal", Kind.MONEY),
            varchar("s_comment", 101),
        ),
        indexes=(("s_nationkey",),),
        references=(Reference(("s_nationkey",), "nation"),),
    ),
    Table(
        "partsupp",
        (
            Column("ps_partkey", Kind.INTEGER),
            Column("ps_suppkey", Kind.INTEGER),
            Column("ps_availqty", Kind.INTEGER),
            Column("ps_supplycost", Kind.MONEY),
            varchar("ps_comment", 199),
        ),
        indexes=(("ps_suppkey",),),
        key=("ps_partkey", "ps_suppkey"),
        references=(Reference(("ps_partkey",), "part"), Reference(("ps_suppkey",), "supplier")),
    ),
    Table(
        "customer",
        (
            Column("c_custkey", Kind.INTEGER),
            varchar("c_name", 25),
            varchar("c_address", 40),
            Column("c_nationkey", Kind.INTEGER),
            char("c_phone", 15),
            Column("c_acctbal", Kind.MONEY),
            char("c_mktsegment", 10),
            varchar("c_comment", 117),
        ),
        indexes=(("c_nationkey",),),
        references=(Reference(("c_nationkey",), "nation"),),
    ),
    Table(
        "orders",
        (
            Column("o_orderkey", Kind.INTEGER),
            Column("o_custkey", Kind.INTEGER),
            char("o_orderstatus", 1),
            Column("o_totalprice", Kind.MONEY),
            Column("o_orderdate", Kind.DAY),
            char("o_orderpriority", 15),
            char("o_clerk", 15),
            Column("o_shippriority", Kind.INTEGER),
            varchar("o_comment", 79),
        ),
        indexes=(("o_custkey",),),
        references=(Reference(("o_custkey",), "customer"),),
    ),
    Table(
        "lineitem",
        (
            Column("l_orderkey", Kind.INTEGER),
            Column("l_partkey", Kind.INTEGER),
            Column("l_suppkey", Kind.INTEGER),
            Column("l_linenumber", Kind.INTEGER),
            Column("l_quantity", Kind.MONEY),
            Column("l_extendedprice", Kind.MONEY),
            Column("l_discount", Kind.MONEY),
            Column("l_tax", Kind.MONEY),
            char("l_returnflag", 1),
            char("l_linestatus", 1),
            Column("l_shipdate", Kind.DAY),
            Column("l_commitdate", Kind.DAY),
            Column("l_receiptdate", Kind.DAY),
            char("l_shipinstruct", 25),
            char("l_shipmode", 10),
            varchar("l_comment", 44),
        ),
        indexes=(("l_partkey", "l_suppkey"),),
        key=("l_orderkey", "l_linenumber"),
        references=(
            Reference(("l_orderkey",), "orders"),
            Reference(("l_partkey", "l_suppkey"), "partsupp"),
        ),
    ),
)
