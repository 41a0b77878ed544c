"""What is particular about vSphere: who may log in, how a host is described, what is left there."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from pyVmomi import vim
from typer.testing import CliRunner

from tests.conftest import Traces
from tests.docs.pages import DOCS, blocks
from tests.environments.vcenter import certificate, vcenter
from tierlab.cli.clean import clean
from tierlab.cli.main import app
from tierlab.environments.domain import DomainSpec
from tierlab.environments.identity import TOKEN
from tierlab.environments.ledger import Ledger, accounts
from tierlab.environments.placement import Placement
from tierlab.environments.vsphere import settings as vsphere_settings
from tierlab.environments.vsphere.domain import PREPARE, VsphereDomain
from tierlab.environments.vsphere.environment import Vsphere
from tierlab.environments.vsphere.session import session
from tierlab.errors import UserError
from tierlab.machine.hwloc import pus_at

OWNER = """
import sys, time
from tierlab.environments.domain import DomainSpec
from tierlab.environments.ledger import Ledger
from tierlab.environments.vsphere.environment import Vsphere

vsphere = Vsphere(Ledger(sys.argv[1]))
domain = vsphere.create(DomainSpec("db.1"))
domain.start()
domain.spawn(["sleep", "600"], log="out.log")
print("up", flush=True)
time.sleep(600)
"""

pytestmark = [pytest.mark.alone, pytest.mark.environments, pytest.mark.privileged]


@pytest.fixture(scope="module")
def keeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    with vcenter(tmp_path_factory.mktemp("keeper")) as words:
        yield words


@pytest.fixture
def named(keeper: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    for name, value in keeper.items():
        monkeypatch.setenv(name, value)
    return keeper


@pytest.fixture
def environment(
    trial: str,
    traces: Traces,  # noqa: ARG001 - looks for what is left
    named: object,  # noqa: ARG001
) -> Iterator[Vsphere]:
    made = Vsphere(Ledger(trial))
    yield made
    made.destroy()


def machines(trial: str) -> list[str]:
    """The trial's virtual machines, by the vCenter's word."""
    with session(vsphere_settings.load()) as opened:
        content = opened.content
        view = content.viewManager.CreateContainerView(
            content.rootFolder, [vim.VirtualMachine], True
        )
        return [each.name for each in view.view if trial in each.name]


@pytest.fixture
def settings(
    named: Mapping[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Path]:
    """The keeper's file, changed."""

    def write(**changes: str) -> Path:
        text = Path(named[vsphere_settings.FILE]).read_text()
        lines = {line.partition(" = ")[0]: line for line in text.splitlines()}
        lines |= {key: f'{key} = "{value}"' for key, value in changes.items()}
        path = tmp_path / "vsphere.toml"
        new = [lines.pop(key) for key in changes if key not in text]
        path.write_text("\n".join([*new, *lines.values()]) + "\n")
        monkeypatch.setenv(vsphere_settings.FILE, str(path))
        return path

    return write


def test_an_agent_outlives_the_shell_that_started_it(environment: Vsphere) -> None:
    """It is to end with a parent that bears the ledger's token, and was gone now and then."""
    domain = environment.create(DomainSpec("db.1"))
    domain.start()
    said = domain.run(["env"], timeout=60).stdout
    assert "TIERLAB_PROGRAM=" in said
    assert TOKEN not in said
    domain.start_program(["env"], log="said").wait(60)
    assert TOKEN not in (domain.text("said") or TOKEN)


def test_without_settings_it_is_refused_by_the_name_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(vsphere_settings.FILE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    with pytest.raises(UserError, match=rf"no vCenter is named; .*{tmp_path}/tierlab/vsphere.toml"):
        Vsphere.probe()


def test_the_settings_that_are_shown_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = blocks(DOCS / "how-to" / "environments.md")
    path = tmp_path / "vsphere.toml"
    path.write_text(next(each.text for each in page if each.text.startswith("address = ")))
    for name in (vsphere_settings.PASSWORD, vsphere_settings.GUEST_PASSWORD):
        monkeypatch.setenv(name, secrets.token_hex(8))
    found = vsphere_settings.load(path)
    assert (found.host, found.port, len(found.hosts)) == ("vcenter.example.org", 443, 2)
    assert found.addresses.server(1, 1) == "10.20.1.1"


def test_no_password_is_assumed(
    settings: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = settings()
    monkeypatch.delenv(vsphere_settings.PASSWORD)
    with pytest.raises(UserError, match=rf"{path}: `password` is missing; .*_PASSWORD"):
        Vsphere.probe()


def test_a_password_in_a_file_is_taken_if_nobody_else_reads_it(
    keeper: Mapping[str, str], settings: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = settings(password=keeper[vsphere_settings.PASSWORD])
    monkeypatch.delenv(vsphere_settings.PASSWORD)
    path.chmod(0o640)
    with pytest.raises(UserError, match="others may read it"):
        Vsphere.probe()
    path.chmod(0o600)
    assert Vsphere.probe().pus == {0, 1}


@pytest.mark.usefixtures("named")
def test_a_wrong_password_is_said_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = secrets.token_hex(16)
    monkeypatch.setenv(vsphere_settings.PASSWORD, wrong)
    with pytest.raises(UserError, match="does not know this user and password") as refusal:
        Vsphere.probe()
    assert wrong not in str(refusal.value)


def test_a_vcenter_that_nobody_vouches_for_is_not_trusted(
    settings: Callable[..., Path], tmp_path: Path
) -> None:
    certificate(tmp_path)
    settings(authority=str(tmp_path / "certificate.pem"))
    with pytest.raises(UserError, match="CERTIFICATE_VERIFY_FAILED"):
        Vsphere.probe()


def test_what_the_vcenter_does_not_have_is_named(settings: Callable[..., Path]) -> None:
    settings(template="no such machine")
    with pytest.raises(UserError, match=r"'no such machine': nothing is called so.*VirtualMachine"):
        Vsphere.probe()


@pytest.mark.usefixtures("named")
def test_a_hosts_shape_is_told_in_hwlocs_words() -> None:
    probe = Vsphere.probe()
    assert pus_at("package:1.core:0", probe.machine) == (1,)


MAPPED = """
[experiment]
name = "mapped"
[load]
users = 1
[system]
workload = "static"
environment = "vsphere"
[system.web]
mapping = { place = "package:1.core:0" }
"""


@pytest.mark.usefixtures("named")
def test_a_mapping_is_planned_on_the_vcenters_host(tmp_path: Path) -> None:
    file = tmp_path / "mapped.toml"
    file.write_text(MAPPED)
    shown = CliRunner(env={"COLUMNS": "120"}).invoke(app, ["map", str(file)])
    assert shown.exit_code == 0, shown.output
    assert "web.1 0 package:1 core:1 1 100%" in " ".join(shown.output.split())


def test_no_mapping_is_planned_on_hosts_that_nobody_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(vsphere_settings.FILE, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    file = tmp_path / "mapped.toml"
    file.write_text(MAPPED)
    refused = CliRunner().invoke(app, ["map", str(file)])
    assert isinstance(refused.exception, UserError)
    assert "no vCenter is named" in str(refused.exception)


@pytest.mark.parametrize(
    ("address", "taken"), [("10.0.4.1", "eth0 inet 10.0.4.1/16"), ("127.0.4.1", None)]
)
def test_a_guest_takes_its_address_unless_it_has_it(
    address: str, taken: str | None, tmp_path: Path
) -> None:
    (tmp_path / ".passing").mkdir()
    lines = [
        "ip link set lo up",
        "ip link add eth0 type veth peer name other",
        'sh -c "$@"',
        "ip -o -4 address show dev eth0",
    ]
    prepare = [PREPARE, "prepare", str(tmp_path / "db.1"), "nobody", address, "16", "eth0"]
    done = subprocess.run(
        ["unshare", "--net", "sh", "-e", "-c", "; ".join(lines), "guest", *prepare],
        capture_output=True,
        text=True,
        check=True,
    )
    words = " ".join(done.stdout.split())
    assert (taken in words) if taken is not None else not words
    assert (tmp_path / "db.1").owner() == "nobody"


def test_a_difference_from_what_was_asked_is_found(environment: Vsphere) -> None:
    """As when somebody else changes the virtual machine."""
    domain = environment.create(DomainSpec("db.1", Placement(pus=frozenset({1}), weight=512)))
    domain.boot()
    assert domain.verify(Placement(pus=frozenset({1}), weight=512))
    somebody_else(domain, vim.vm.ConfigSpec(cpuAffinity=vim.vm.AffinityInfo(affinitySet=[0])))
    with pytest.raises(UserError, match="PUs 1 asked, 0 found"):
        domain.verify(Placement(pus=frozenset({1})))


def somebody_else(domain: VsphereDomain, change: vim.vm.ConfigSpec) -> None:
    domain._machine.reconfigure(change)


def test_another_ones_machine_of_the_same_name_is_left_alone(environment: Vsphere) -> None:
    domain = environment.create(DomainSpec("db.1"))
    domain.boot()
    mine = vim.option.OptionValue(key="tierlab.ledger", value="another")
    somebody_else(domain, vim.vm.ConfigSpec(extraConfig=[mine]))
    with pytest.raises(UserError, match="it is not the one that the trial made"):
        domain.destroy()
    assert machines(environment.trial)
    token = domain._ground.ledger.token
    mine = vim.option.OptionValue(key="tierlab.ledger", value=token)
    somebody_else(domain, vim.vm.ConfigSpec(extraConfig=[mine]))


def test_what_a_killed_trial_left_is_removed_by_who_can_log_in(
    trial: str, traces: Traces, named: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, trial], stdout=subprocess.PIPE, text=True, env={**os.environ}
    )
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "up\n"
    finally:
        owner.send_signal(signal.SIGKILL)
        owner.communicate()
    assert machines(trial) == [f"tierlab-{trial}-db.1"]
    kept = accounts()[0].path.read_text()
    assert not any(named[name] in kept for name in named if name.endswith("PASSWORD"))
    with monkeypatch.context() as forgotten:
        forgotten.delenv(vsphere_settings.PASSWORD)
        with pytest.raises(UserError, match=r"could not remove virtual machine .*_PASSWORD"):
            clean()
    assert machines(trial)
    clean()
    assert not machines(trial)
    assert traces.none(), traces.found()
