"""KVM where this machine has none: its tests, run in an emulated host that has it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.environments import test_kvm
from tests.environments.emulated_host import MEMORY, RESULTS, EmulatedHost
from tests.environments.guests import no_kvm
from tests.figures import figure
from tests.trial import test_kvm_trial
from tierlab.environments.images import build as image_build
from tierlab.environments.images.image import cache_folder
from tierlab.environments.qemu.environment import Qemu
from tierlab.machine.programs import locate

pytestmark = [
    pytest.mark.environments,
    pytest.mark.slow,
    pytest.mark.privileged,
    pytest.mark.timeout(3600),
    pytest.mark.usefixtures("guests_here"),
    pytest.mark.skipif(
        any(locate(program) is None for program in image_build.PROGRAMS),
        reason="needs mmdebstrap and erofs-utils",
    ),
]

SAME = ("PYTHONPATH", "TIERLAB_AGENT")
"""What is said there as it is here, if it is."""
MODULES = (test_kvm, test_kvm_trial)
PYTEST = (
    *("pytest", "--verbose", "-p", "no:cacheprovider"),
    *("-p", "xdist.plugin", "-p", "pytest_timeout"),
    *("-o", "junit_logging=system-out", f"--junitxml={RESULTS}/junit.xml"),
)


@pytest.mark.skipif(no_kvm() is None, reason="its tests run on this machine itself")
def test_kvm_in_an_emulated_host(tmp_path: Path) -> None:
    if Qemu.probe().memory < MEMORY:
        pytest.skip(f"the emulated host takes {MEMORY >> 30} GiB of memory")
    host = EmulatedHost(tmp_path)
    command = [sys.executable, "-m", *PYTEST, *(str(module.__file__) for module in MODULES)]
    same = {name: os.environ[name] for name in SAME if name in os.environ}
    cache = {"XDG_CACHE_HOME": str(cache_folder().parents[1])}
    # To look for further plugins takes seconds there.
    alone = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONUNBUFFERED": "1"}
    host.run(command, {**same, **cache, **alone})
    cases = list(ET.parse(host.results / "junit.xml").iter("testcase"))
    ran = {case.get("name"): case for case in cases if case.find("skipped") is None}
    wanted = {name for each in MODULES for name in vars(each) if name.startswith("test_")}
    assert set(ran) == wanted, (host.results / "said").read_text()
    for name, case in ran.items():
        took = float(case.get("time", "nan"))
        # pytest puts a line of dashes with a title above what a test printed.
        printed = case.findtext("system-out", "").splitlines()
        said = [line for line in printed if line and not line.startswith("---")]
        figure(f"{name}: {'; '.join([f'{took:.0f} s', *said])}")
