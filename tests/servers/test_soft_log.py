"""Gauges as the application writes them."""

from __future__ import annotations

from tierlab.servers.soft_log import Use, uses

FIRST = "1795188355100000123 threads=3/0/200 max_connections=5/-/8192 pool=2/1/64\n"
SECOND = "1795188355200000200 threads=4/7/200 max_connections=6/-/8192 pool=64/9/64\n"


def test_each_line_but_the_first_is_a_row_a_resource() -> None:
    t_ns, dt_ns = 1795188355200000200, 100000077
    assert list(uses([FIRST, SECOND])) == [
        Use(t_ns, dt_ns, "threads", 4, 7, 200),
        Use(t_ns, dt_ns, "max_connections", 6, None, 8192),
        Use(t_ns, dt_ns, "pool", 64, 9, 64),
    ]


def test_a_line_that_was_cut_is_passed_over() -> None:
    for length in range(len(SECOND)):
        assert list(uses([FIRST, SECOND[:length]])) == []


def test_a_clock_that_is_set_back_begins_anew() -> None:
    earlier = SECOND.replace("1795188355", "1795188300")
    assert list(uses([FIRST, earlier])) == []
    assert [use.dt_ns for use in uses([FIRST, earlier, FIRST])] == [54_899_999_923] * 3
