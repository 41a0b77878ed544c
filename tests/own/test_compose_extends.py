"""Services that extend others: how they are merged, and which cannot be extended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.own.composed import have_images, of, refused

EXTENDED = """\
services:
  base:
    image: redis
    command: serve
    environment: { LEVEL: info, POOL: "5" }
    volumes: ["data:/data"]
    profiles: [never]
  web:
    extends: { service: base }
    image: shop
    ports: ["80:3000"]
    environment: [POOL=50]
    profiles: !reset []
volumes: { data: }
"""
COMMON = """\
services:
  logged:
    environment: { LEVEL: debug, AT: "${PLACE}" }
    env_file: common.env
    build: { context: . }
  base:
    extends: logged
    image: shop
    command: serve
    volumes: ["./conf:/conf", "data:/data"]
    ports: ["80:3000"]
"""
OF_FILE = """\
services:
  web:
    extends: { file: common/base.yaml, service: base }
    environment: { POOL: "7" }
volumes: { data: }
"""


@pytest.fixture(autouse=True)
def _images(monkeypatch: pytest.MonkeyPatch) -> None:
    have_images(monkeypatch)
    for name in ("COMPOSE_FILE", "COMPOSE_PROFILES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PLACE", "here")


@pytest.fixture
def common(tmp_path: Path) -> Path:
    """A folder with a file whose services are extended, and what these name."""
    folder = tmp_path / "common"
    (folder / "conf").mkdir(parents=True)
    (folder / "base.yaml").write_text(COMMON)
    (folder / "common.env").write_text("FROM=file\n")
    return folder


def web(place: Path, text: str) -> dict[str, Any]:
    found: dict[str, Any] = of(place, text).system["web"]
    return found


@pytest.mark.parametrize(
    "form", ["{ service: base }", "base", "{ service: base, file: compose.yaml }"]
)
def test_a_service_is_merged_over_the_one_that_it_extends(tmp_path: Path, form: str) -> None:
    found = web(tmp_path, EXTENDED.replace("{ service: base }", form))
    assert found["image"] == "shop"
    assert found["command"] == "serve"
    assert found["environment"] == {"LEVEL": "info", "POOL": "50"}
    assert found["volumes"] == ["data:/data"]


def test_a_tag_drops_what_the_extended_service_has(tmp_path: Path) -> None:
    text = EXTENDED.replace("[POOL=50]", "!override [POOL=50]\n    command: !reset null")
    found = web(tmp_path, text)
    assert found["environment"] == {"POOL": "50"}
    assert "command" not in found


def test_a_service_of_another_file_comes_with_that_file_s_paths(
    tmp_path: Path, common: Path
) -> None:
    found = web(tmp_path, OF_FILE)
    assert found["environment"] == {"LEVEL": "debug", "AT": "here", "FROM": "file", "POOL": "7"}
    assert found["volumes"] == [f"{common}/conf:/conf", "data:/data"]
    assert (found["image"], found["port"]) == ("shop", 3000)


def test_files_go_on_from_their_own_folder(tmp_path: Path, common: Path) -> None:
    (common / "deep").mkdir()
    (common / "deep" / "deeper.yaml").write_text(
        "services: { it: { image: shop, volumes: ['./own:/own'] } }\n"
    )
    (common / "deep" / "own").mkdir()
    (common / "base.yaml").write_text(
        "services: { base: { extends: { file: deep/deeper.yaml, service: it }, ports: [3000] } }\n"
    )
    assert web(tmp_path, OF_FILE)["volumes"] == [f"{common}/deep/own:/own"]


def test_an_included_service_may_extend_one_of_its_own_folder(tmp_path: Path, common: Path) -> None:
    (common / "all.yaml").write_text(
        "services: { web: { extends: { file: base.yaml, service: base } } }\nvolumes: { data: }\n"
    )
    found = web(tmp_path, "include: [common/all.yaml]\n")
    assert found["volumes"] == [f"{common}/conf:/conf", "data:/data"]


def test_an_override_file_changes_what_is_extended(tmp_path: Path) -> None:
    (tmp_path / "compose.override.yaml").write_text("services: { web: { mem_limit: 1g } }\n")
    found = web(tmp_path, EXTENDED)
    assert (found["memory"], found["command"]) == ("1048576KiB", "serve")


@pytest.mark.parametrize(
    ("extends", "sentence"),
    [
        ("{ service: gone }", 'names "gone", which is no service of {place}/compose.yaml'),
        ("gone", 'names "gone", which is no service of {place}/compose.yaml'),
        (
            "{ file: common/base.yaml, service: gone }",
            'names "gone", which is no service of {place}/common/base.yaml',
        ),
        (
            "{ file: gone.yaml, service: base }",
            'names "base" of {place}/gone.yaml, and there is no such file',
        ),
        ("{ file: common, service: base }", 'names "base" of {place}/common, and there is no'),
        ("{ file: common/base.yaml }", "must name a service, not {{'file': 'common/base.yaml'}}"),
        ("[base]", "must name a service, not ['base']"),
        ("{ service: base, image: x }", "has image; there are service and file"),
        ("web", "leads back to where it began (web -> web)"),
    ],
)
@pytest.mark.usefixtures("common")
def test_what_cannot_be_extended_is_named_with_its_file(
    tmp_path: Path, extends: str, sentence: str
) -> None:
    found = refused(tmp_path, EXTENDED.replace("{ service: base }", extends))
    assert f"services.web.extends {sentence.format(place=tmp_path)}" in found


def test_services_that_extend_each_other_are_named_with_their_way(
    tmp_path: Path, common: Path
) -> None:
    text = EXTENDED.replace("image: redis", "image: redis\n    extends: web")
    found = refused(tmp_path, text)
    assert "services.web.extends leads back to where it began (base -> web -> base)" in found
    assert "services.base.extends leads back to where it began (web -> base -> web)" in found
    (common / "base.yaml").write_text(
        "services: { base: { extends: { file: ../compose.yaml, service: web } } }\n"
    )
    sentence = f"services.base.extends of {common}/base.yaml leads back to where it began"
    assert sentence in refused(tmp_path, OF_FILE)
