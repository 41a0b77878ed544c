"""Values of compose files: words and numbers as Docker reads them, and variables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tierlab.environments.containers.oci_image import OciImage
from tierlab.errors import UserError
from tierlab.servers.placeholders import from_environment, literal
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


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("$$NAME", "$NAME"),
        ("$$$$NAME", "$$NAME"),
        ("$$$$$$NAME", "$$$NAME"),
        ("$NAME", "set here"),
        ("$$NAME x", "$NAME x"),
        ("$$", "$"),
        ("$$2y", "$2y"),
    ],
)
@pytest.mark.parametrize("place", ["table", "list", "file"])
def test_a_value_that_is_a_name_after_dollars_reaches_the_server_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, written: str, value: str
) -> None:
    monkeypatch.setenv("NAME", "set here")
    (tmp_path / "web.env").write_text(f"A={written}\n")
    where = {
        "table": f"environment: {{ A: '{written}' }}",
        "list": f"environment: ['A={written}']",
        "file": "env_file: web.env",
    }
    variables = web(tmp_path, f"{WEB}    {where[place]}\n")["environment"]
    assert from_environment("A", variables["A"], "system.web.environment") == value


@pytest.mark.parametrize(
    "value", ["", "$", "$NAME", "$$NAME", "$NAME x", "a$NAME", "$1", "${NAME}"]
)
def test_a_literal_is_read_back_as_the_value_that_it_was_made_of(value: str) -> None:
    assert from_environment("A", literal(value), "system.web.environment") == value


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
    unread = ".env: 1 of 2 variables of .env are not understood and left out, at line 2"
    assert unread in notes


@pytest.mark.usefixtures("_unset")
@pytest.mark.parametrize("form", ["", ", format: raw"])
def test_a_file_of_which_most_variables_are_not_understood_is_refused(
    tmp_path: Path, form: str
) -> None:
    text = f"{WEB}    env_file: [{{ path: some.env{form} }}]\n"
    (tmp_path / "compose.yml").write_text(text)
    asked = {"workload": "own", "compose": str(tmp_path / "compose.yml")}
    for good, bad, said in [(0, 8, "8 of its 8"), (4, 6, "6 of its 10"), (4, 5, "5 of its 9")]:
        lines = [*(f"A{n}=1" for n in range(good)), *("no name=x" for _ in range(bad))]
        (tmp_path / "some.env").write_text("\n".join([*lines, ""]))
        with pytest.raises(UserError, match=f"some.env: {said} variables are not understood"):
            expanded(asked)
    lines = [*(f"A{n}=1" for n in range(5)), *("no name=x" for _ in range(5))]
    (tmp_path / "some.env").write_text("\n".join([*lines, ""]))
    found = expanded(asked)
    assert found.system["web"]["environment"] == {f"A{n}": "1" for n in range(5)}
    (note,) = [each for each in found.notes if "not understood" in each]
    assert note.endswith(
        "5 of 10 variables of some.env are not understood and left out, at lines 6, 7, 8 and 2 more"
    )


@pytest.mark.parametrize(
    ("size", "kib"),
    [
        ("536870912", 512 << 10),
        ("512m", 512 << 10),
        ("512MB", 512 << 10),
        ("512MiB", 512 << 10),
        ("512 mib", 512 << 10),
        ("0.5g", 512 << 10),
        (".5G", 512 << 10),
        ("1.5G", 1536 << 10),
        ("1.5GiB", 1536 << 10),
        ("1gb", 1 << 20),
        ("'1 g'", 1 << 20),
        ("524288k", 512 << 10),
        ("524288KiB", 512 << 10),
        ("536870912b", 512 << 10),
        ("536870912.0", 512 << 10),
        ("0.001t", 1073741),
        ("0", None),
    ],
)
@pytest.mark.parametrize(
    "key", ["mem_limit: {}", "deploy: {{resources: {{limits: {{memory: {}}}}}}}"]
)
def test_sizes_are_those_of_docker(tmp_path: Path, key: str, size: str, kib: int | None) -> None:
    found = web(tmp_path, f"{WEB}    {key.format(size)}\n").get("memory")
    assert found == (None if kib is None else f"{kib}KiB")


@pytest.mark.parametrize("size", ["much", "-1", "10x", "1.5.2g", "1ib", "5i", "true", "1e3", "''"])
def test_what_is_no_size_is_told(tmp_path: Path, size: str) -> None:
    with pytest.raises(UserError, match=r"is no size; write it as 512m or 1\.5g"):
        web(tmp_path, f"{WEB}    mem_limit: {size}\n")


def test_limits_that_are_said_twice_have_to_be_the_same(tmp_path: Path) -> None:
    deploy = "    deploy: { replicas: 2, resources: { limits: { memory: 1g } } }\n"
    made = web(tmp_path, f"{WEB}{deploy}    mem_limit: 1024m\n    scale: 2\n")
    assert (made["memory"], made["count"]) == ("1048576KiB", 2)
    with pytest.raises(UserError) as raised:
        web(tmp_path, f"{WEB}{deploy}    mem_limit: 2g\n    scale: 3\n")
    assert "services.web.scale is 3, and deploy.replicas is 2; keep one." in str(raised.value)
    assert "services.web.mem_limit is 2g, and deploy.resources.limits.memory is 1g" in str(
        raised.value
    )


FORMS = """\
export A=1
B: as yaml
C: "quoted\\nlines"
D:no blank=kept
K
export EXPORTED
UNSET
E=a:b=c
  F = spaced
'G'=7
"""
FOUND = {
    **{"A": "1", "B": "as yaml", "C": "quoted\nlines", "D": "no blank=kept", "K": "shell"},
    **{"EXPORTED": "too", "E": "a:b=c", "F": "spaced", "G": "7"},
}


@pytest.fixture
def _shell(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*FOUND, "UNSET", "RAW", "NOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("K", "shell")
    monkeypatch.setenv("EXPORTED", "too")


@pytest.mark.usefixtures("_shell")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_a_service_s_file_have_each_of_the_forms(
    tmp_path: Path, encoding: str, end: str
) -> None:
    (tmp_path / "web.env").write_bytes(FORMS.replace("\n", end).encode(encoding))
    (tmp_path / "compose.yml").write_text(f"{WEB}    env_file: web.env\n")
    found = expanded({"workload": "own", "compose": str(tmp_path / "compose.yml")})
    assert found.system["web"]["environment"] == FOUND
    assert (
        "services.web.env_file: web.env names UNSET without a value, and it is not set: it is left"
        " out"
    ) in found.notes


RAW = """\
\ufeff# of the shop
RAW="quoted" # kept
DOLLARS=a$b$$c${d}
SINGLE='x'
EMPTY=
K
NOT_SET
no name=x
=x
"""


@pytest.mark.usefixtures("_shell")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_in_the_raw_format_is_kept_as_it_stands(tmp_path: Path, end: str) -> None:
    (tmp_path / "raw.env").write_bytes(RAW.replace("\n", end).encode())
    text = f"{WEB}    env_file: [{{ path: raw.env, format: raw }}]\n"
    (tmp_path / "compose.yml").write_text(text)
    found = expanded({"workload": "own", "compose": str(tmp_path / "compose.yml")})
    assert found.system["web"]["environment"] == {
        **{"RAW": '"quoted" # kept', "DOLLARS": "a$b$$c${d}", "SINGLE": "'x'", "EMPTY": ""},
        "K": "shell",
    }
    (note,) = [each for each in found.notes if "not understood" in each]
    assert note.endswith(
        "2 of 8 variables of raw.env are not understood and left out, at lines 8, 9"
    )
    with pytest.raises(UserError, match='has the format "json"; there is raw, or none'):
        web(tmp_path, text.replace("format: raw", "format: json"))


def test_a_file_s_raw_value_and_one_of_the_experiment_file_keep_their_meanings(
    tmp_path: Path,
) -> None:
    (tmp_path / "raw.env").write_text("RAW=$NOT\n")
    text = f"{WEB}    env_file: [{{ path: raw.env, format: raw }}]\n"
    assert web(tmp_path, text)["environment"] == {"RAW": "$$NOT"}
    system = {"workload": "own", "compose": str(tmp_path / "compose.yml")}
    found = expanded({**system, "web": {"environment": {"RAW": "$RAW"}}})
    assert found.system["web"]["environment"] == {"RAW": "$RAW"}


def test_a_name_in_the_project_s_file_takes_the_shell_s_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K", "shell")
    (tmp_path / ".env").write_text("K\nJ: yaml\n")
    made = web(tmp_path, f"{WEB}    environment: {{ A: '${{K}}', B: '${{J}}' }}\n")
    assert made["environment"] == {"A": "shell", "B": "yaml"}
