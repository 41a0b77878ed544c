"""`--environment` says otherwise than the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierlab.errors import UserError
from tierlab.experiment import load

FILE = """
[experiment]
name = "e"
[system]
workload = "rubbos"
{system}
[load]
users = 1
{factors}
"""


def written(folder: Path, system: str = "", factors: str = "") -> Path:
    path = folder / "e.toml"
    path.write_text(FILE.format(system=system, factors=factors))
    return path


def environments(path: Path, environment: str | None) -> list[str]:
    return [plan.system.environment for plan in load(path, environment=environment).trials()]


def test_it_stands_in_for_what_the_file_says_or_leaves_out(tmp_path: Path) -> None:
    assert environments(written(tmp_path), None) == ["native"]
    assert environments(written(tmp_path), "podman") == ["podman"]
    asked = written(tmp_path, system='environment = "podman"')
    assert environments(asked, None) == ["podman"]
    assert environments(asked, "native") == ["native"]


def test_one_that_is_not_there_is_named_with_the_choice(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"environment.*native.*podman"):
        load(written(tmp_path), environment="jail")


def test_it_does_not_override_a_factor_in_silence(tmp_path: Path) -> None:
    crossed = written(tmp_path, factors='[factors]\n"system.environment" = ["native", "podman"]\n')
    assert sorted(environments(crossed, None)) == ["native", "podman"]
    with pytest.raises(UserError, match=r"system\.environment is a factor"):
        load(crossed, environment="podman")
