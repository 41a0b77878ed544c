"""The wheel in an empty environment, in another folder, where nothing can be compiled."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from itertools import takewhile
from pathlib import Path
from tempfile import gettempdir

import pytest
from packaging.requirements import Requirement

from tests.pace import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.privileged]

ROOT = Path(__file__).parents[2]
COMPILERS = {"cargo", "rustc", "javac", "mvn", "make", "cc", "gcc", "c++", "g++", "clang", "ld"}
SERVERS = {
    "/usr/sbin/apache2": "apache2-bin",
    "/usr/sbin/haproxy": "haproxy",
    "/usr/sbin/mariadbd": "mariadb-server-core",
}
ELSEWHERE = {"TIERLAB_AGENT", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
"""What would lead out of the environment, or have it compile its modules at each start."""
SECONDS = 240
EXPERIMENT = """
[experiment]
name = "{name}"
[system]
workload = "rubbos"
scale = 0.0005
[load]
users = 20
think = "500ms"
phases = {{ ramp_up = "0s", runtime = "1s", ramp_down = "0s" }}
"""


@dataclass(frozen=True)
class Installed:
    """The command as the wheel brings it, and where it runs."""

    environment: Path
    folder: Path
    path: Path

    def start(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """Start it with its ledgers in its folder; what it says goes to one pipe."""
        kept = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
        own = {
            "PATH": str(self.path),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "NO_COLOR": "1",
        }
        return subprocess.Popen(
            list(map(str, arguments)),
            cwd=self.folder,
            env=kept | own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str | Path, status: int = 0) -> str:
        """Run it to its end; return what it said."""
        process = self.start(self.command, *arguments)
        said, _ = process.communicate()
        assert process.returncode == status, said
        return said

    @property
    def command(self) -> Path:
        return self.environment / "bin" / "tierlab"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel and what it says that it depends on, as it is in this one."""
    folder = tmp_path_factory.mktemp("taken-home")
    subprocess.run(["make", "-s", "wheel", f"WHEELS={folder}"], cwd=ROOT, check=True)
    (wheel,) = folder.glob("*.whl")
    environment = folder / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    install = ["install", "--quiet", "--no-compile", "--no-deps", wheel]
    subprocess.run([*pip, "--python", environment / "bin" / "python", *install], check=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    (installed,) = metadata.distributions(name="tierlab", path=[str(packages)])
    for name in sorted(needed(installed)):
        link(metadata.distribution(name), packages)
    return environment


def needed(distribution: metadata.Distribution) -> set[str]:
    """What it depends on, at first and at second hand: all of it is here, in versions that do."""
    found: set[str] = set()
    waiting = [(distribution, "")]
    while waiting:
        dependent, extra = waiting.pop()
        for requirement in map(Requirement, dependent.requires or []):
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            dependency = metadata.distribution(requirement.name)
            assert requirement.specifier.contains(dependency.version, prereleases=True), requirement
            names = {requirement.name, *(f"{requirement.name}[{e}]" for e in requirement.extras)}
            waiting += [(dependency, e) for e in ("", *requirement.extras) if not names <= found]
            found |= names
    return {name.partition("[")[0] for name in found}


def link(distribution: metadata.Distribution, packages: Path) -> None:
    """Have a distribution in another environment too."""
    for top in {file.parts[0] for file in distribution.files or []} - {"..", "__pycache__"}:
        if not (packages / top).exists():
            (packages / top).symlink_to(Path(str(distribution.locate_file(top))))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All of this machine's own programs but for what compiles."""
    folder = tmp_path_factory.mktemp("programs")
    # Servers run as a user for whom pytest's folders are closed, and some programs are scripts.
    for above in takewhile(lambda it: it != Path(gettempdir()), (folder, *folder.parents)):
        above.chmod(0o755)
    for programs in ("/usr/sbin", "/usr/bin"):
        for program in Path(programs).iterdir():
            if program.name not in COMPILERS and not (folder / program.name).is_symlink():
                (folder / program.name).symlink_to(program)
    assert not any(shutil.which(compiler, path=folder) for compiler in COMPILERS)
    return folder


@pytest.fixture
def installed(environment: Path, path: Path, tmp_path: Path) -> Installed:
    return Installed(environment, tmp_path, path)


def test_the_doctor_finds_the_agent_and_the_application_in_it(installed: Installed) -> None:
    said = json.loads(installed.run("doctor", "--json"))

    seen = {check["name"]: check["seen"] for check in said["checks"]}
    assert said["demo"]
    for name in ("tierlab-agent", "workload rubbos"):
        assert seen[name].startswith(str(installed.environment)), seen[name]


def test_the_studies_came_with_it(installed: Installed) -> None:
    said = installed.run("study", "none", status=2)

    published = {path.name.split(".")[0] for path in (ROOT / "studies").glob("*.published.toml")}
    assert published
    assert all(name in said for name in published), said


@pytest.mark.usefixtures("traces")
def test_a_trial_runs_from_it(installed: Installed, trial: str) -> None:
    (installed.folder / "short.toml").write_text(EXPERIMENT.format(name=trial))

    installed.run("run", "short.toml")

    run = installed.folder / "runs" / trial / "001"
    manifest = json.loads((run / "manifest.json").read_text())
    assert manifest["exit"]["state"] == "done"
    assert manifest["versions"]["tierlab-agent"]
    assert (run / "visits.parquet").stat().st_size
    assert (run / "report.html").stat().st_size


def test_the_demo_runs_from_it_until_it_is_stopped(installed: Installed) -> None:
    demo = installed.start(installed.command, "demo")
    requests = installed.folder / "runs" / "demo" / "001" / "streams" / "requests.arrows"

    def begun() -> bool:
        return demo.poll() is not None or (requests.exists() and requests.stat().st_size > 0)

    wait_until(begun, "the first request", SECONDS)

    demo.send_signal(signal.SIGINT)
    said, _ = demo.communicate()

    assert demo.returncode == 130, said
    assert (installed.folder / "runs" / "demo" / "001" / "report.html").exists()


def test_what_the_machine_lacks_is_named_with_the_command_that_installs_it(
    installed: Installed,
) -> None:
    hidden = " && ".join(f"mount --bind /dev/null {program}" for program in SERVERS)

    demo = installed.start(
        "unshare", "--mount", "sh", "-c", f"{hidden} && {installed.command} demo"
    )
    said, _ = demo.communicate()

    assert demo.returncode == 2
    (sentence,) = said.splitlines()
    assert sentence.endswith(f"install with 'apt-get install {' '.join(SERVERS.values())}'.")
    assert not (installed.folder / "runs").exists()
