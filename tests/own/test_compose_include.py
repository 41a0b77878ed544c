"""Compose files that include others: what is copied, where its paths begin, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.own.composed import have_images, of, refused

WEB = """\
include: [data/compose.yaml]
services:
  web:
    image: shop
    ports: ["80:3000"]
    depends_on: [db]
"""
DATA = """\
services:
  db:
    image: postgres
    environment: { PASSWORD: "${PASSWORD}", PLACE: "${PLACE}" }
    env_file: more.env
    volumes: ["./conf:/conf", "rows:/rows"]
    secrets: [key]
volumes: { rows: }
secrets: { key: { file: key.txt } }
"""


@pytest.fixture(autouse=True)
def _images(monkeypatch: pytest.MonkeyPatch) -> None:
    have_images(monkeypatch)
    for name in ("COMPOSE_FILE", "COMPOSE_PROFILES", "PASSWORD", "PLACE", "MORE"):
        monkeypatch.delenv(name, raising=False)


def put(place: Path, name: str, text: str) -> Path:
    file = place / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with an included file and what that names."""
    put(tmp_path, "data/compose.yaml", DATA)
    put(tmp_path, "data/more.env", "MORE=1\n")
    put(tmp_path, "data/key.txt", "k")
    put(tmp_path, "data/.env", "PASSWORD=inner\nPLACE=inner\n")
    put(tmp_path, ".env", "PLACE=outer\n")
    (tmp_path / "data" / "conf").mkdir()
    return tmp_path / "data"


def db(place: Path, text: str = WEB) -> dict[str, Any]:
    found: dict[str, Any] = of(place, text).system["db"]
    return found


def test_included_services_come_with_their_files_and_variables(tmp_path: Path, data: Path) -> None:
    found = of(tmp_path, WEB).system
    assert found["web"]["calls"] == ["db"]
    assert found["db"]["environment"] == {"PASSWORD": "inner", "PLACE": "outer", "MORE": "1"}
    assert found["db"]["volumes"] == [
        f"{data}/conf:/conf",
        "rows:/rows",
        f"{data}/key.txt:/run/secrets/key:ro",
    ]


def test_an_include_may_say_its_folder_and_its_variables(tmp_path: Path, data: Path) -> None:
    other = tmp_path / "other"
    for name in ("more.env", "key.txt"):
        put(other, name, (data / name).read_text())
    (other / "conf").mkdir()
    put(tmp_path, "given.env", "PASSWORD=given\n")
    text = WEB.replace(
        "[data/compose.yaml]",
        "[{ path: data/compose.yaml, project_directory: other, env_file: [given.env] }]",
    )
    found = db(tmp_path, text)
    assert found["environment"]["PASSWORD"] == "given"
    assert found["volumes"][0] == f"{other}/conf:/conf"


def test_a_list_of_paths_is_merged_before_it_is_copied(tmp_path: Path, data: Path) -> None:
    put(data, "small.yaml", "services: { db: { environment: [PLACE=small], mem_limit: 1g } }\n")
    text = WEB.replace("[data/compose.yaml]", "[{ path: [data/compose.yaml, data/small.yaml] }]")
    found = db(tmp_path, text)
    assert (found["environment"]["PLACE"], found["memory"]) == ("small", "1048576KiB")


@pytest.mark.usefixtures("data")
def test_an_override_file_changes_what_is_included(tmp_path: Path) -> None:
    put(tmp_path, "compose.override.yaml", "services: { db: { mem_limit: 1g } }\n")
    assert db(tmp_path)["memory"] == "1048576KiB"


def test_included_files_include_others_from_their_own_folder(tmp_path: Path, data: Path) -> None:
    put(data, "deep/cache.yaml", "services: { cache: { image: redis, volumes: ['./x:/x'] } }\n")
    (data / "deep" / "x").mkdir()
    put(data, "compose.yaml", f"include: [deep/cache.yaml]\n{DATA}")
    text = WEB.replace("[db]", "[db, cache]")
    assert of(tmp_path, text).system["cache"]["volumes"] == [f"{data}/deep/x:/x"]


def test_what_two_files_have_alike_is_one(tmp_path: Path, data: Path) -> None:
    put(data, "compose.yaml", f"{DATA}networks: {{ back: }}\n")
    assert db(tmp_path, f"{WEB}networks: {{ back: {{}} }}\nvolumes: {{ rows: }}\n")


def test_an_included_variable_without_a_value_has_that_of_its_own_file(
    tmp_path: Path, data: Path
) -> None:
    put(data, "compose.yaml", DATA.replace('PASSWORD: "${PASSWORD}"', "PASSWORD: "))
    assert db(tmp_path)["environment"]["PASSWORD"] == "inner"


@pytest.mark.parametrize(
    ("include", "sentence"),
    [
        ("[gone.yaml]", "include names {place}/gone.yaml, and there is no such file"),
        ("[{ path: gone/a.yaml }]", "include names {place}/gone/a.yaml, and there is no such"),
        ("[oci://docker.io/x]", "include names oci://docker.io/x, which is no file of this host"),
        ("[https://github.com/x.git]", "include names https://github.com/x.git, which is no file"),
        ("[{ env_file: .env }]", "include has {{'env_file': '.env'}}, which names no file"),
        ("[{ path: [1] }]", "include has {{'path': [1]}}, which names no file"),
        ("data/compose.yaml", "include must be a list of files, not 'data/compose.yaml'"),
        ("[{ path: data/compose.yaml, files: x }]", "include has files; there are path,"),
        (
            "[{ path: data/compose.yaml, env_file: gone.env }]",
            "include names the env_file {place}/gone.env, and there is no such file",
        ),
        (
            "[compose.yaml]",
            "include leads back to where it began ({place}/compose.yaml -> {place}/compose.yaml)",
        ),
    ],
)
@pytest.mark.usefixtures("data")
def test_an_include_that_cannot_be_followed_is_named(
    tmp_path: Path, include: str, sentence: str
) -> None:
    found = refused(tmp_path, WEB.replace("[data/compose.yaml]", include))
    assert sentence.format(place=tmp_path) in found


def test_includes_that_go_round_in_a_circle_are_named_with_their_way(
    tmp_path: Path, data: Path
) -> None:
    put(data, "compose.yaml", f"include: [../third.yaml]\n{DATA}")
    put(tmp_path, "third.yaml", "include: [compose.yaml]\nservices: { x: { image: redis } }\n")
    sentence = (
        f"include of {data}/../third.yaml leads back to where it began ({tmp_path}/compose.yaml ->"
        f" {data}/compose.yaml -> {tmp_path}/third.yaml -> {tmp_path}/compose.yaml)"
    )
    assert sentence in refused(tmp_path, WEB)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (
            "  db: { image: redis }\n",
            "services.db is in {data}/compose.yaml too, which is included",
        ),
        ("volumes: { rows: { name: x } }\n", "volumes.rows is in {data}/compose.yaml too"),
        ("secrets: { key: { file: a } }\n", "secrets.key is in {data}/compose.yaml too"),
    ],
)
def test_two_of_one_name_are_refused_by_it(
    tmp_path: Path, data: Path, more: str, sentence: str
) -> None:
    assert sentence.format(data=data) in refused(tmp_path, WEB + more)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("services: [\n", "{data}/compose.yaml: is not valid YAML (line 2)"),
        ("services: [db]\n", "services of {data}/compose.yaml must be a table, not ['db']"),
        ("service: { db: }\n", "service of {data}/compose.yaml is nothing that Tierlab knows of"),
        ("models: { m: }\n", "models of {data}/compose.yaml asks for a model that Docker runs"),
    ],
)
def test_what_is_wrong_in_an_included_file_names_that_file(
    tmp_path: Path, data: Path, text: str, sentence: str
) -> None:
    put(data, "compose.yaml", text)
    assert sentence.format(data=data) in refused(tmp_path, WEB)


def test_a_file_of_nothing_but_includes_has_their_services(tmp_path: Path, data: Path) -> None:
    put(tmp_path, "web.yaml", WEB.replace("include: [data/compose.yaml]\n", ""))
    found = of(tmp_path, "include:\n  - web.yaml\n  - data/compose.yaml\n").system
    assert found["web"]["calls"] == ["db"]
    (data / "compose.yaml").unlink()
    said = refused(tmp_path, "include: [data/compose.yaml]\n")
    assert said == f"include names {data}/compose.yaml, and there is no such file."
