"""What libvirt's domstats said of guests' disks, as rows of the table `hypervisor_disk`."""

from __future__ import annotations

import pytest

from tierlab.environments.guests.disk_counters import rows
from tierlab.environments.qemu.accounts import looks
from tierlab.tables.schemas import OUTSIDE

S = 1_000_000_000
DISK = """\
  block.{n}.name={name}
  block.{n}.path=/var/tmp/x/{name}.disk
  block.{n}.rd.reqs={reads}
  block.{n}.rd.bytes={read}
  block.{n}.rd.times={read_ns}
  block.{n}.wr.reqs=7
  block.{n}.wr.bytes=4096
  block.{n}.wr.times=5000000
  block.{n}.fl.reqs=2
  block.{n}.fl.times=12345
  block.{n}.capacity=7516192768
"""
ROOT = DISK.format(n=0, name="vda", reads=9, read=512, read_ns=10)


def look(at: int, reads: int, read_ns: int) -> str:
    own = DISK.format(n=1, name="vdb", reads=reads, read=4096 * reads, read_ns=read_ns)
    time = f"virsh # echo at {at * S}\nat {at * S}virsh # domstats --block --nowait\n"
    return f"{time}Domain: 'tierlab-x-1-db.1'\n  block.count=2\n{ROOT}{own}\n"


SAID = look(10, 100, S) + look(12, 110, 3 * S)


def test_each_look_but_the_first_is_a_row() -> None:
    found = {row["subject"]: row for row in rows(looks(SAID, "tierlab-x-1-"))}
    assert set(found) == {"db.1/vda", "db.1/vdb"}
    own = found["db.1/vdb"]
    assert set(own) == set(OUTSIDE["hypervisor_disk"].names)
    assert (own["t_ns"], own["dt_ns"]) == (12 * S, 2 * S)
    assert (own["reads"], own["bytes_read"], own["read_time_ns"]) == (10, 40_960, 2 * S)
    assert (own["writes"], own["write_time_ns"]) == (0, 0)
    assert own["queue_length"] == pytest.approx(1.0)
    assert found["db.1/vda"]["reads"] == 0


def test_what_was_cut_off_is_left_out() -> None:
    whole = rows(looks(SAID, ""))
    for end in range(len(SAID)):
        assert rows(looks(SAID[:end], "")) in ([], whole[:1], whole)


def test_a_domain_made_anew_begins_anew() -> None:
    assert [
        row["t_ns"] // S for row in rows(looks(SAID + look(14, 3, 5) + look(16, 4, 6), ""))
    ] == [
        *(12, 12),
        *(14, 16),
        16,
    ]
