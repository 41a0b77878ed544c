"""Compose files over others: the files that Docker merges, how it does, and its tags."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.own.composed import WEB, have_images, of, read, refused


@pytest.fixture(autouse=True)
def _images(monkeypatch: pytest.MonkeyPatch) -> None:
    have_images(monkeypatch)
    for name in ("COMPOSE_FILE", "COMPOSE_PROFILES", "COMPOSE_PATH_SEPARATOR"):
        monkeypatch.delenv(name, raising=False)


BASE = """\
services:
  web:
    image: shop
    ports: ["80:3000"]
    command: serve --fast
    environment: { POOL: "5", LEVEL: info }
    volumes: ["data:/data", "logs:/logs"]
    healthcheck: { test: [CMD, ping] }
    tmpfs: /tmp
    mem_limit: 512m
volumes: { data: , logs: , other: }
"""
OVER = """\
services:
  web:
    environment: [POOL=50, MODE=test]
    command: [serve, --slow]
    volumes: ["other:/data"]
    healthcheck: { test: curl localhost }
    tmpfs: [/run]
    depends_on: [cache]
    mem_limit: 1g
  cache: { image: redis }
"""
MERGED = {
    "image": "shop",
    "port": 3000,
    "command": "serve --slow",
    "environment": {"POOL": "50", "LEVEL": "info", "MODE": "test"},
    "volumes": ["other:/data", "logs:/logs", "tmpfs:/tmp", "tmpfs:/run"],
    "health": "/bin/sh -c 'curl localhost'",
    "memory": "1048576KiB",
    "calls": ["cache"],
}


@pytest.mark.parametrize(
    ("name", "over"),
    [
        ("compose.yaml", "compose.override.yaml"),
        ("compose.yml", "compose.override.yml"),
        ("docker-compose.yml", "docker-compose.override.yml"),
        ("docker-compose.yaml", "compose.override.yaml"),
    ],
)
def test_an_override_file_beside_it_is_merged_and_noted(
    tmp_path: Path, name: str, over: str
) -> None:
    (tmp_path / name).write_text(BASE)
    (tmp_path / over).write_text(OVER)
    found = read(tmp_path / name)
    assert found.system["web"] == MERGED
    assert found.system["cache"]["port"] == 6379
    assert any(each.startswith(f"{over} is merged over {name}") for each in found.notes)


@pytest.mark.parametrize("name", ["compose.prod.yaml", "docker-compose.yml"])
def test_an_override_file_of_another_is_noted_and_not_merged(tmp_path: Path, name: str) -> None:
    (tmp_path / "compose.yaml").write_text(WEB)
    (tmp_path / name).write_text(BASE)
    (tmp_path / "compose.override.yaml").write_text(OVER)
    found = read(tmp_path / name)
    assert found.system["web"]["environment"]["POOL"] == "5"
    assert any(f"compose.override.yaml is not merged over {name}" in each for each in found.notes)


def test_of_several_override_files_the_first_is_merged(tmp_path: Path) -> None:
    (tmp_path / "compose.override.yml").write_text("services: { web: { environment: [A=1] } }\n")
    (tmp_path / "docker-compose.override.yml").write_text(OVER)
    found = of(tmp_path, WEB)
    assert found.system["web"]["environment"] == {"A": "1"}
    assert any(each.startswith("docker-compose.override.yml is not read") for each in found.notes)


def test_files_of_a_variable_are_merged_in_its_order(tmp_path: Path) -> None:
    (tmp_path / "compose.override.yaml").write_text("services: { web: { environment: [A=0] } }\n")
    (tmp_path / "a.yaml").write_text("services: { web: { environment: [A=1, B=1] } }\n")
    (tmp_path / "b.yaml").write_text("services: { web: { environment: [B=2] } }\n")
    (tmp_path / ".env").write_text("COMPOSE_FILE=compose.yaml:a.yaml:b.yaml\n")
    found = of(tmp_path, WEB)
    assert found.system["web"]["environment"] == {"A": "1", "B": "2"}
    assert "a.yaml, b.yaml are merged over compose.yaml, as COMPOSE_FILE has it" in found.notes
    (tmp_path / ".env").write_text("COMPOSE_FILE=compose.yaml:gone.yaml\n")
    assert "COMPOSE_FILE names" in refused(tmp_path, WEB)
    (tmp_path / ".env").write_text("COMPOSE_FILE=b.yaml\n")
    found = of(tmp_path, WEB)
    assert "environment" not in found.system["web"]
    assert any("COMPOSE_FILE (b.yaml) is not heeded" in each for each in found.notes)


def web(place: Path, over: str, base: str = BASE) -> dict[str, Any]:
    """The service `web` after a file over another."""
    (place / "compose.override.yaml").write_text(over)
    found: dict[str, Any] = of(place, base).system["web"]
    return found


@pytest.mark.parametrize(
    ("over", "key", "value"),
    [
        ("ports: !override ['81:4000']", "port", 4000),
        ("ports: ['81:4000']", "port", 3000),
        ("environment: { LEVEL: !reset null }", "environment", {"POOL": "5"}),
        ("environment: !override { ONLY: 1 }", "environment", {"ONLY": "1"}),
        ("environment: !reset {}", "environment", None),
        ("command: !reset null", "command", None),
        ("command:", "command", None),
        ("volumes: !reset []", "volumes", ["tmpfs:/tmp"]),
        ("mem_limit: !reset 0", "memory", None),
        ("healthcheck: !override { test: [CMD, x] }", "health", "x"),
        ("deploy: { replicas: 3 }", "count", 3),
    ],
)
def test_tags_drop_and_replace(tmp_path: Path, over: str, key: str, value: object) -> None:
    assert web(tmp_path, f"services:\n  web:\n    {over}\n").get(key) == value


def test_a_tag_drops_what_a_list_of_the_earlier_file_has(tmp_path: Path) -> None:
    base = f"{WEB}    environment: [A=1, B=2]\n"
    over = "services: { web: { environment: { A: !reset null } } }\n"
    assert web(tmp_path, over, base)["environment"] == {"B": "2"}


TAGGED = """\
x-common: &common
  image: shop
  environment: &variables { A: "1", B: !reset null }
  command: serve
services:
  web:
    <<: *common
    ports: !override ["80:3000"]
    command: !reset null
    environment: { <<: *variables, C: !override "2" }
    depends_on: !reset []
"""


def test_tags_in_a_file_alone_keep_and_drop(tmp_path: Path) -> None:
    found = of(tmp_path, TAGGED).system["web"]
    assert found["environment"] == {"A": "1", "C": "2"}
    assert found["port"] == 3000
    assert "command" not in found


def test_what_is_empty_in_the_later_file_takes_nothing_away_and_is_noted(tmp_path: Path) -> None:
    (tmp_path / "compose.override.yaml").write_text("services: { web: { ports: } }\n")
    found = of(tmp_path, WEB)
    assert found.system["web"]["port"] == 3000
    assert any(each.startswith("services.web.ports: is empty") for each in found.notes)


def test_forms_that_cannot_be_merged_are_told(tmp_path: Path) -> None:
    (tmp_path / "compose.override.yaml").write_text("services: { web: { ports: { a: 1 } } }\n")
    assert "services.web.ports has one form in one of the files" in refused(tmp_path, WEB)
    (tmp_path / "compose.override.yaml").write_text("services: [\n")
    assert "compose.override.yaml: is not valid YAML (line 2)" in refused(tmp_path, WEB)


@pytest.mark.parametrize("tag", ["!Ref", "!!binary", "!env", "!!set"])
def test_a_tag_that_compose_does_not_know_is_named_with_its_line(tmp_path: Path, tag: str) -> None:
    assert refused(tmp_path, f"{WEB}    command: {tag} x\n").startswith(f"line 5 has the tag {tag}")


def test_profiles_of_a_variable_bring_services_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"{WEB}    depends_on: [db]\n  db: {{ image: postgres, profiles: [full] }}\n"
    found = of(tmp_path, text)
    assert "db" not in found.system
    assert any(
        each.startswith("db is left out, as it has a profile (full)") for each in found.notes
    )
    assert "web depends on db, which is left out" in found.notes
    for value in ("full", "a, full", "*"):
        monkeypatch.setenv("COMPOSE_PROFILES", value)
        assert of(tmp_path, text).system["web"]["calls"] == ["db"]
