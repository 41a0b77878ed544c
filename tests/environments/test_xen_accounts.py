"""What xentop(1) of Xen 4.17 said in domain 0, as rows of the table `domain`."""

from __future__ import annotations

import pytest

from tierlab.environments.guests.disk_counters import DiskCounters
from tierlab.environments.xen.accounts import disk_looks, rows
from tierlab.tables.schemas import SCHEMAS

S = 1_000_000_000
DB = "db.1 -----r {cpu} {share} 524288 8.3 525312 8.4 1 0 0 0 2 0 171 {w} 13538 {ws} 0"
DOMAIN_0 = "Domain-0 -----r 23 {share} 1048576 16.7 no limit n/a 1 0 0 0 0 0 0 0 0 0 0"
SAID = (
    f"{10 * S} {DB.format(cpu=9, share=0.0, w=171, ws=41112)}\n"
    f"{10 * S} {DOMAIN_0.format(share=0.0)}\n"
    f"{13 * S} {DB.format(cpu=12, share=99.8, w=283, ws=69784)}\n"
    f"{13 * S} {DOMAIN_0.format(share=13.5)}\n"
)


def test_each_look_but_the_first_is_a_row() -> None:
    found = {row["subject"]: row for row in rows(SAID)}
    assert set(found) == {"db.1", "Domain-0"}
    db = found["db.1"]
    assert set(db) == set(SCHEMAS["domain"].names)
    assert (db["t_ns"], db["dt_ns"]) == (13 * S, 3 * S)
    assert db["cpu_ns"] == pytest.approx(0.998 * 3 * S)
    assert db["memory"] == 512 << 20
    assert (db["bytes_read"], db["bytes_written"]) == (0, (69784 - 41112) * 512)
    assert db["throttled_ns"] is None
    assert found["Domain-0"]["cpu_ns"] == pytest.approx(0.135 * 3 * S)


def test_what_was_cut_off_is_left_out() -> None:
    whole = rows(SAID)
    for end in range(len(SAID)):
        assert rows(SAID[:end]) in ([], whole[:1])
    assert rows("") == []


def test_a_domain_that_is_being_unmade_has_no_row() -> None:
    unmade = f"{13 * S} app.1 d----- 3 0.0 0 0.0 0 0.0 1 0 0 0 0 0 0 - - - 0\n"
    assert rows(SAID + unmade) == rows(SAID)


def test_a_domain_that_comes_later_begins_later() -> None:
    late = SAID.replace("db.1", "web.1").replace(f"{10 * S} ", f"{13 * S} ").splitlines()[0]
    assert [row["subject"] for row in rows(f"{SAID}{late}\n")] == ["db.1", "Domain-0"]


def test_domain_0s_disks_are_told_by_the_domains_that_have_them() -> None:
    stat = "252 16 vdb 100 4 800 250 40 9 320 120 0 200 370 0 0 0 0 7 3"
    said = SAID + f"disk {13 * S} {stat}\ndisk {13 * S} {stat.replace('vdb', 'vda')}\n"
    looks = list(disk_looks(said, {"vdb": "db.1/xvdb"}))
    counters = DiskCounters(
        *(100, 40, 800 * 512, 320 * 512),
        *(250_000_000, 120_000_000),
    )
    assert looks == [(13 * S, "db.1/xvdb", counters)]
    assert rows(said) == rows(SAID)
    for end in range(len(said)):
        assert list(disk_looks(said[:end], {"vdb": "db.1/xvdb"})) in ([], looks)
