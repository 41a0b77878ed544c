"""The published equations for the use of CPUs and disks, on tables written by hand."""

import pytest

from tierlab.analysis.resources.layers import layers
from tierlab.analysis.resources.resources import resources
from tierlab.analysis.summary import cores

MS = 1_000_000


def of(observed):
    span = observed.measured
    found = resources(observed.db, span)
    return layers(observed.db, span, found, cores(found))


def tick(subject, t_ms, **columns):
    return {"t_ns": t_ms * MS, "dt_ns": 500 * MS, "subject": subject, **columns}


def core(subject, t_ms, user, system, iowait=0.1):
    busy = user + system
    return tick(subject, t_ms, busy=busy, user=user, system=system, iowait=iowait)


def thread(number, name, run_ms, wait_ms, t_ms=500):
    spent = {"run_ns": run_ms * MS, "wait_ns": wait_ms * MS}
    return tick("db.1", t_ms, process=7, thread=number, name=name, **spent)


def test_equations_1_to_3(tiny):
    found = of(
        tiny(
            {
                "cpu": [
                    core("cpu0", 500, 0.5, 0.1),
                    core("cpu0", 1000, 0.3, 0.1),
                    core("cpu1", 500, 0.0, 0.2),
                    core("cpu1", 1000, 0.0, 0.0),
                ],
                "domain": [
                    tick("web.1", 500, cpu_ns=100 * MS),
                    tick("web.1", 1000, cpu_ns=300 * MS),
                    tick("db.1", 500, cpu_ns=250 * MS),
                    tick("db.1", 1000, cpu_ns=50 * MS),
                ],
                "disk": [tick("vda", 500, busy=0.25), tick("vda", 1000, busy=0.75)],
            }
        )
    )
    assert found.cores == 2
    assert found.system == pytest.approx((0.6 + 0.4 + 0.2 + 0.0) / 4)  # equation 1
    assert {each.name: each.total for each in found.domains} == {
        "web.1": pytest.approx(0.4),
        "db.1": pytest.approx(0.3),
    }
    assert found.of_domains == pytest.approx((0.4 + 0.3) / 2)  # equation 2
    assert found.disks == {"vda": pytest.approx(0.5)}  # equation 3
    assert all(each.vcpus is each.host is None for each in found.domains)


def test_what_a_guest_ran_is_told_from_what_the_host_did_for_it(tiny):
    found = of(
        tiny(
            {
                "domain": [
                    tick("db.1", 500, cpu_ns=400 * MS),
                    tick("db.1", 1000, cpu_ns=200 * MS),
                ],
                "process": [
                    {**tick("db.1", 500), "process": 7, "name": "qemu", "run_ns": 400 * MS},
                    thread(8, "CPU 0/TCG", 200, 50),
                    thread(8, "CPU 0/TCG", 100, 0, t_ms=1000),
                    thread(9, "CPU 1/KVM", 50, 25),
                    thread(9, "CPU 1/KVM", 50, 25, t_ms=1000),
                    thread(10, "IO mon_iothread", 100, 0),
                ],
            }
        )
    )
    (guest,) = found.domains
    assert guest.total == pytest.approx(0.6)
    assert guest.vcpus == pytest.approx(0.3 + 0.1)
    assert guest.waiting == pytest.approx(0.05 + 0.05)
    assert guest.host == pytest.approx(0.2)


def test_xen_tells_its_domains_how_long_they_waited(tiny):
    def vcpu(number, steal, t_ms=500):
        return tick(f"db.1/cpu{number}", t_ms, steal=steal)

    found = of(
        tiny(
            {
                "domain": [tick("db.1", 500, cpu_ns=300 * MS), tick("Domain-0", 500, cpu_ns=MS)],
                "inside_cpu": [vcpu(0, 0.5), vcpu(1, 0.25), vcpu(0, 0.3, 1000)],
            }
        )
    )
    by_name = {each.name: each for each in found.domains}
    assert by_name["db.1"].vcpus == by_name["db.1"].total == pytest.approx(0.6)
    assert by_name["db.1"].waiting == pytest.approx(0.4 + 0.25)
    assert (by_name["db.1"].host, by_name["Domain-0"].waiting) == (None, None)


def disk(subject, t_ms, reads, read_ms, queue):
    return tick(
        subject,
        t_ms,
        reads=reads,
        writes=1,
        read_time_ns=read_ms * MS,
        write_time_ns=10 * MS,
        busy=0.1,
        queue_length=queue,
    )


def test_a_request_takes_longer_in_the_guest_than_at_the_device(tiny):
    idle = tick("vdb", 500, reads=0, writes=0, busy=0.0, queue_length=0.0)
    asked = disk("db.1/vdb", 1000, 9, 90, 0.2)
    del asked["busy"]  # of all the work for a disk, a hypervisor counts the requests alone
    found = of(
        tiny(
            {
                "inside_disk": [
                    disk("db.1/vdb", 500, 9, 190, 0.4),
                    disk("db.1/vdb", 1000, 4, 40, 0.1),
                ],
                "hypervisor_disk": [asked],
                "disk": [disk("vda", 500, 9, 40, 0.1), {**idle, "read_time_ns": 0}],
            }
        )
    ).disk_levels
    (guest, hypervisor, device, unused) = found
    assert (guest.level, guest.subject, guest.requests) == ("guest", "db.1/vdb", 15)
    assert guest.latency_s == pytest.approx(0.25 / 15)
    assert guest.queue_length == pytest.approx(0.25)
    assert (hypervisor.level, hypervisor.subject) == ("hypervisor", "db.1/vdb")
    assert hypervisor.latency_s == pytest.approx(0.1 / 10)
    assert (device.level, device.subject, device.requests) == ("device", "vda", 10)
    assert device.latency_s == pytest.approx(0.05 / 10)
    assert (unused.subject, unused.requests, unused.latency_s) == ("vdb", 0, None)


def test_what_was_not_measured_is_none(tiny):
    found = of(tiny({"cpu": [], "domain": [], "disk": [], "process": []}))
    assert (found.cores, found.system, found.of_domains) == (None, None, None)
    assert found.domains == []
    assert found.disks == {}
    assert found.disk_levels == []
