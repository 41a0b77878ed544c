"""The fingerprint against independent sources: uname, nproc, /proc/meminfo, lscpu, dpkg."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tierlab.machine.control_groups import hierarchies, with_controller
from tierlab.machine.fingerprint import fingerprint
from tierlab.machine.programs import look_up

FOUND = fingerprint()


def said(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_the_name_and_the_kernel_are_unames() -> None:
    assert FOUND["name"] == said("uname", "-n")
    assert FOUND["kernel"] == {
        "release": said("uname", "-r"),
        "build": said("uname", "-v"),
        "machine": said("uname", "-m"),
    }


def test_the_pus_are_nprocs() -> None:
    assert (
        FOUND["cpu"]["pus"] == len(FOUND["topology"]) == int(said("getconf", "_NPROCESSORS_ONLN"))
    )


def test_the_model_is_lscpus() -> None:
    fields = {row["field"]: row["data"] for row in json.loads(said("lscpu", "-J"))["lscpu"]}

    assert FOUND["cpu"]["model"] == fields["Model name:"]
    assert FOUND["cpu"]["vendor"] == fields["Vendor ID:"]
    assert (FOUND["virtualisation"] not in (None, "none")) == ("Hypervisor vendor:" in fields)


def test_the_memory_is_meminfos() -> None:
    lines = Path("/proc/meminfo").read_text().splitlines()
    kib = {line.split(":")[0]: int(line.split()[1]) for line in lines}

    assert FOUND["memory"]["total"] == kib["MemTotal"] * 1024
    assert FOUND["memory"]["swap"] == kib["SwapTotal"] * 1024


def test_the_clock_is_one_of_those_available() -> None:
    assert FOUND["clock"]["source"] in FOUND["clock"]["available"]


def test_it_is_plain_data() -> None:
    assert json.loads(json.dumps(FOUND)) == FOUND


def test_control_groups_are_the_mounted_ones() -> None:
    mounted = said("findmnt", "-rn", "-t", "cgroup,cgroup2", "-o", "TARGET").splitlines()
    found = {str(hierarchy.root) for hierarchy in hierarchies()}

    assert found <= set(mounted)
    assert {path for path in mounted if "systemd" not in path} <= found


def test_version_1_owns_a_controller_that_it_has_mounted(tmp_path: Path) -> None:
    (tmp_path / "unified").mkdir()
    (tmp_path / "unified/cgroup.controllers").write_text("cpu io memory\n")
    (tmp_path / "mounts").write_text(
        f"cgroup {tmp_path}/cpu\\040acct cgroup rw,cpu,cpuacct 0 0\n"
        f"cgroup {tmp_path}/named cgroup rw,name=systemd 0 0\n"
        f"cgroup2 {tmp_path}/unified cgroup2 rw 0 0\n"
    )

    owners = {
        name: with_controller(name, tmp_path) for name in ("cpu", "cpuacct", "memory", "devices")
    }

    assert {name: owner and (owner.version, owner.root) for name, owner in owners.items()} == {
        "cpu": (1, tmp_path / "cpu acct"),
        "cpuacct": (1, tmp_path / "cpu acct"),
        "memory": (2, tmp_path / "unified"),
        "devices": None,
    }


def test_a_program_is_found_with_its_package() -> None:
    program = look_up("nsenter", "util-linux")

    assert program.path is not None
    assert Path(program.path).samefile(said("which", "nsenter"))
    assert program.version == said("nsenter", "--version")
    assert program.package_version == said("dpkg-query", "-W", "-f", "${Version}", "util-linux")


def test_a_missing_program_is_none() -> None:
    program = look_up("tierlab-no-such-program", "nothing")

    assert (program.path, program.version, program.package_version) == (None, None, None)
