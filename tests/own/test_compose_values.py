"""Values of compose files: words and numbers as Docker reads them, and variables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tierlab.environments.containers.oci_image import OciImage
from tierlab.workloads.own.compose import service
from tierlab.workloads.own.compose.expand import expanded

WEB = "services:\n  web:\n    image: shop\n    ports: ['80:3000']\n"


@pytest.fixture(autouse=True)
def _image(monkeypatch: pytest.MonkeyPatch) -> None:
    found = OciImage("0" * 64, {"Cmd": ["run"]})
    monkeypatch.setattr(service, "find_image", lambda _: found)


def web(place: Path, text: str) -> Mapping[str, Any]:
    """What the service `web` becomes."""
    (place / "compose.yml").write_text(text)
    system = {"workload": "own", "compose": str(place / "compose.yml")}
    made: Mapping[str, Any] = expanded(system).system["web"]
    return made


def test_words_and_numbers_are_those_of_yaml_1_2(tmp_path: Path) -> None:
    text = """\
services:
  web:
    image: shop
    command:
      - yes
      - 0x10
      - true
    user: 33:33
    ports:
      - 2222:22
    environment:
      XDEBUG_MODE: off
      DEBUG: False
      SINCE: 2026-01-01 10:00:00
      AT: 10:30.5
      SIGN: =
      COUNT: 1_000
      SHARE: 0.50
      MASK: 022
"""
    made = web(tmp_path, text)
    assert made["command"] == "yes 16 true"
    assert (made["run_as"], made["port"]) == ("33:33", 22)
    assert made["environment"] == {
        **{"XDEBUG_MODE": "off", "DEBUG": "false", "SINCE": "2026-01-01 10:00:00"},
        **{"AT": "10:30.5", "SIGN": "=", "COUNT": "1000", "SHARE": "0.5", "MASK": "18"},
    }


@pytest.mark.parametrize("no", ["no", "off", "false", "'false'"])
def test_keys_that_are_true_or_false_take_the_older_words(no: str, tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    text = f"""\
    privileged: {no}
    healthcheck: {{ test: run, disable: {no} }}
    env_file: [{{ path: none.env, required: {no} }}]
    volumes:
      - {{ type: bind, source: ./conf, target: /etc/shop, read_only: {no} }}
      - data:/data
volumes: {{ data: {{ external: {no} }} }}
"""
    made = web(tmp_path, WEB + text)
    assert made["health"] == "/bin/sh -c run"
    assert made["volumes"] == [f"{tmp_path}/conf:/etc/shop:rw", "data:/data"]
    assert web(tmp_path, WEB + "    healthcheck: { disable: yes }\n")["health"] == "none"


VARIABLES = """\
DB_USER=shop
export DB_PASS="s3cret"
DATABASE_URL=postgres://${DB_USER}:${DB_PASS}@db/x
HASH='$2y$10$AbC'
PRICE="5 \\$ to $DB_USER"
DOUBLED=a$$b
WHERE=${PLACE:-here}
"""
MADE = {
    "DATABASE_URL": "postgres://shop:s3cret@db/x",
    "HASH": "$2y$10$AbC",
    "PRICE": "5 $ to shop",
    "DOUBLED": "a$b",
    "WHERE": "there",
}


@pytest.fixture
def _unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*MADE, "DB_USER", "DB_PASS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PLACE", "there")


@pytest.mark.usefixtures("_unset")
def test_variables_of_the_project_speak_of_those_before_them(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(VARIABLES)
    lines = "".join(f"      {name}: ${{{name}}}\n" for name in MADE)
    assert web(tmp_path, f"{WEB}    environment:\n{lines}")["environment"] == MADE


@pytest.mark.usefixtures("_unset")
def test_variables_of_a_service_s_file_speak_of_those_before_them(tmp_path: Path) -> None:
    (tmp_path / "web.env").write_text(VARIABLES)
    text = f"{WEB}    env_file: web.env\n"
    made = {"DB_USER": "shop", "DB_PASS": "s3cret", **MADE}
    assert web(tmp_path, text)["environment"] == made
    (tmp_path / ".env").write_text("DB_USER=project\n")
    assert web(tmp_path, text)["environment"]["DATABASE_URL"] == "postgres://project:s3cret@db/x"
    (tmp_path / "more.env").write_text("AGAIN=$HASH, ${DB_PASS}\n")
    both = web(tmp_path, f"{WEB}    env_file: [web.env, more.env]\n")["environment"]
    assert both["AGAIN"] == "$2y$10$AbC, s3cret"


@pytest.mark.usefixtures("_unset")
def test_a_line_that_is_no_variable_and_what_is_not_set_are_told(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=$DB_USER\nB='open\n")
    (tmp_path / "compose.yml").write_text(WEB)
    notes = expanded({"workload": "own", "compose": str(tmp_path / "compose.yml")}).notes
    assert ".env: DB_USER is not set, and empty" in notes
    assert ".env: .env is not read at line 2" in notes
