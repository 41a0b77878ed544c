"""Values of compose files: words and numbers as Docker reads them, and variables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tierlab.environments.containers.oci_image import OciImage
from tierlab.servers import image
from tierlab.workloads.own.compose import service
from tierlab.workloads.own.compose.expand import expanded

WEB = "services:\n  web:\n    image: shop\n    ports: ['80:3000']\n"


@pytest.fixture(autouse=True)
def _image(monkeypatch: pytest.MonkeyPatch) -> None:
    found = OciImage("0" * 64, {"Cmd": ["run"]})
    monkeypatch.setattr(service, "find_image", lambda _: found)
    assert image.Image.kind == "image"


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
