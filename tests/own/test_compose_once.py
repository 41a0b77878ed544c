"""Services that end before others begin: run first, in the container of one of the same image."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.own.composed import have_images, of, refused


@pytest.fixture(autouse=True)
def _images(monkeypatch: pytest.MonkeyPatch) -> None:
    have_images(monkeypatch, sh={"Entrypoint": ["/bin/sh", "-c"], "Cmd": ["echo served $MODE"]})


MIGRATED = """\
x-app: &app
  image: shop
  environment: &env { DATABASE_URL: "postgres://db:5432/d" }
services:
  web:
    <<: *app
    ports: ["80:3000"]
    depends_on:
      migrate: { condition: service_completed_successfully }
  migrate:
    <<: *app
    command: [./manage, "migrate all"]
    environment: { <<: *env, LEVEL: "a b" }
    working_dir: /srv
    restart: "no"
    volumes: ["static:/static"]
    depends_on: { db: { condition: service_healthy } }
  db: { image: postgres }
volumes: { static: }
"""


def script(table: dict[str, Any]) -> str:
    """What the entry point has the shell run."""
    shell, option, text, *rest = shlex.split(table["entrypoint"])
    assert (shell, option) == ("/bin/sh", "-c")
    assert rest == ["web", "/entry"]
    return text


def test_a_migration_runs_before_its_server_in_its_container(tmp_path: Path) -> None:
    found = of(tmp_path, MIGRATED)
    web = found.system["web"]
    assert list(found.system)[-2:] == ["web", "db"]
    assert web["calls"] == ["db"]
    assert web["command"] == "serve"
    assert web["volumes"] == ["static:/static"]
    assert script(web) == (
        "(export LEVEL='a b'; cd /srv || exit; exec /entry ./manage 'migrate all') && exec \"$@\""
    )
    assert any(
        each.startswith("web runs migrate to its end before it begins") for each in found.notes
    )


def test_what_is_chosen_to_be_a_server_has_its_migration_all_the_same(tmp_path: Path) -> None:
    text = MIGRATED.replace("volumes: { static: }", "  other: { image: redis }\n")
    text = text.replace('    volumes: ["static:/static"]\n', "")
    found = of(tmp_path, text, services=["web", "db"])
    assert "migrate" in script(found.system["web"])
    assert "other" not in found.system


def test_of_several_that_wait_the_first_that_is_started_runs_it(tmp_path: Path) -> None:
    text = MIGRATED.replace(
        "  db: { image: postgres }",
        "  api:\n    <<: *app\n    ports: [3000]\n    depends_on: { migrate: { condition:"
        " service_completed_successfully } }\n  db: { image: postgres }",
    ).replace("    depends_on:\n      migrate", "    depends_on:\n      api: {}\n      migrate")
    found = of(tmp_path, text)
    assert list(found.system)[-3:] == ["web", "api", "db"]
    assert "entrypoint" not in found.system["web"]
    assert "migrate" in found.system["api"]["entrypoint"]


def test_those_that_wait_for_each_other_run_in_order(tmp_path: Path) -> None:
    text = MIGRATED.replace("  db: {", "  seed: { image: shop, command: seed }\n  db: {").replace(
        "db: { condition: service_healthy }",
        "db: {}, seed: { condition: service_completed_successfully }",
    )
    words = script(of(tmp_path, text).system["web"])
    assert words.index("exec /entry seed") < words.index("migrate all")
    assert words.startswith("(unset DATABASE_URL; exec /entry seed) && (")


def test_the_shell_runs_one_after_the_other_and_stops_where_one_fails(tmp_path: Path) -> None:
    text = """\
services:
  web:
    image: sh
    ports: ["80:3000"]
    environment: { MODE: web }
    depends_on: { first: { condition: service_completed_successfully } }
  first:
    image: sh
    command: ["echo first $$MODE$$OTHER; exit %s"]
    environment: { OTHER: "1 2" }
"""
    for status, said in ((0, "first 1 2\nserved web\n"), (3, "first 1 2\n")):
        web = of(tmp_path, text % status).system["web"]
        words = [*shlex.split(web["entrypoint"]), *shlex.split(web["command"])]
        done = subprocess.run(
            words, env=web["environment"], capture_output=True, text=True, check=False
        )
        assert (done.stdout, done.returncode) == (said, status)


def test_a_variable_that_a_server_has_over_its_image_s_is_the_image_s_to_another(
    tmp_path: Path,
) -> None:
    text = MIGRATED.replace(
        'ports: ["80:3000"]', 'ports: ["80:3000"]\n    environment: { LANG: de }'
    )
    words = script(of(tmp_path, text).system["web"])
    assert words.startswith("(export LANG=C; export DATABASE_URL=")


def test_two_that_are_built_of_the_same_have_one_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = MIGRATED.replace("image: shop", "build: .")
    tag = f"localhost/{tmp_path.name}-web".lower()
    assert refused(tmp_path, text).count(f"podman build -t {tag} ") == 2
    have_images(monkeypatch, **{tag: {"Entrypoint": ["/entry"], "ExposedPorts": {"3000": {}}}})
    assert "migrate" in script(of(tmp_path, text).system["web"])


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("restart", "user: root\n    restart", "they run as different users"),
        ('LEVEL: "a b"', "a.b: c", "no shell can set its variable a.b"),
        (
            'LEVEL: "a b"',
            'DATABASE_URL: "postgres://u:pw@db/d"',
            "the secret DATABASE_URL is not the same to both",
        ),
        (
            'ports: ["80:3000"]',
            'ports: ["80:3000"]\n    volumes: ["other:/static"]',
            "both have something else at /static",
        ),
    ],
)
def test_what_cannot_run_in_another_s_container_has_one_of_its_own(
    tmp_path: Path, old: str, new: str, why: str
) -> None:
    text = MIGRATED.replace(old, new, 1).replace("{ static: }", "{ static: , other: }")
    found = of(tmp_path, text)
    web = found.system["web"]
    assert "entrypoint" not in web
    (first,) = web["first"]
    assert (first["name"], first["image"]) == ("migrate", "shop")
    assert first["command"] == "./manage 'migrate all'"
    said = f"migrate runs to its end in a container of its own before web begins, as {why}"
    assert any(each.startswith(said) for each in found.notes)


FLYWAY = MIGRATED.replace("    <<: *app\n    command", "    image: flyway\n    command")


@pytest.fixture
def _flyway(monkeypatch: pytest.MonkeyPatch) -> None:
    have_images(monkeypatch, flyway={"Entrypoint": ["flyway"]})


@pytest.mark.usefixtures("_flyway")
def test_one_of_another_image_runs_in_a_container_of_its_own(tmp_path: Path) -> None:
    found = of(tmp_path, FLYWAY, migrate={"within": "5m"})
    web = found.system["web"]
    assert web["first"] == [
        {
            "name": "migrate",
            "image": "flyway",
            "command": "./manage 'migrate all'",
            "workdir": "/srv",
            "volumes": ["static:/static"],
            "within": "5m",
            "environment": {"DATABASE_URL": "postgres://db:5432/d", "LEVEL": "a b"},
        }
    ]
    assert "entrypoint" not in web
    assert web["calls"] == ["db"]
    assert "migrate" not in found.system


@pytest.mark.usefixtures("_flyway")
def test_those_before_one_in_a_container_of_its_own_have_one_too(tmp_path: Path) -> None:
    ends = "{ condition: service_completed_successfully }"
    text = FLYWAY.replace("  db: {", "  seed: { image: shop, command: seed }\n  db: {")
    text = text.replace("db: { condition: service_healthy }", f"db: {{}}, seed: {ends}")
    text = text.replace(f"migrate: {ends}", f"migrate: {ends}\n      last: {ends}")
    text = text.replace("  db: {", "  last: { image: shop, command: last }\n  db: {")
    web = of(tmp_path, text).system["web"]
    assert [each["name"] for each in web["first"]] == ["seed", "migrate"]
    assert "exec /entry last" in script(web)
    assert "seed" not in web["entrypoint"]


@pytest.mark.usefixtures("_flyway")
def test_one_of_another_image_may_be_left_out(tmp_path: Path) -> None:
    left = of(tmp_path, FLYWAY, services=["web", "db"], web={"calls": ["db"]})
    assert "first" not in left.system["web"]
    assert any(
        each.startswith("migrate, whose end others wait for, is not run") for each in left.notes
    )


def test_one_whose_image_is_not_there_is_refused_by_its_name(tmp_path: Path) -> None:
    assert refused(tmp_path, FLYWAY).startswith('services.migrate.image names "flyway", an image')


def test_a_secret_of_one_that_ends_is_in_no_command(tmp_path: Path) -> None:
    text = MIGRATED.replace('LEVEL: "a b"', "ADMIN_PASSWORD: hidden")
    web = of(tmp_path, text).system["web"]
    assert web["environment"]["ADMIN_PASSWORD"] == "hidden"
    assert "hidden" not in web["entrypoint"]


def test_a_value_that_is_a_name_after_a_dollar_stays_that_to_a_migration(tmp_path: Path) -> None:
    text = MIGRATED.replace('LEVEL: "a b"', "LEVEL: $$HOME, ADMIN_PASSWORD: $$hidden")
    web = of(tmp_path, text).system["web"]
    assert "export LEVEL='$HOME';" in script(web)
    assert web["environment"]["ADMIN_PASSWORD"] == "$$hidden"
    apart = of(tmp_path, text.replace("restart", "user: root\n    restart")).system["web"]
    assert apart["first"][0]["environment"]["LEVEL"] == "$$HOME"


def test_a_server_of_tierlab_s_in_the_place_of_one_that_waits_runs_nothing(tmp_path: Path) -> None:
    text = MIGRATED.replace("  web:", "  app:\n    image: shop\n    ports: [3000]\n  web:", 1)
    given = {"server": "nodejs", "port": 3000, "calls": ["app", "db"]}
    found = of(tmp_path, text, entry="web", web=given)
    assert "entrypoint" not in found.system["web"]
    assert any(each.startswith("migrate is not run, as another server") for each in found.notes)


def test_one_that_ends_may_be_a_job_and_its_limits_are_noted(tmp_path: Path) -> None:
    more = "deploy: { mode: replicated-job }\n    mem_limit: 1g\n    restart"
    found = of(tmp_path, MIGRATED.replace("restart", more))
    assert "migrate all" in script(found.system["web"])
    assert "services.migrate: without effect, as it ends: deploy, mem_limit" in found.notes


@pytest.mark.parametrize("mode", ["replicated-job", "global-job"])
def test_a_job_is_no_server(tmp_path: Path, mode: str) -> None:
    text = MIGRATED.replace(
        "{ image: postgres }", f"{{ image: postgres, deploy: {{ mode: {mode} }} }}"
    )
    assert refused(tmp_path, text).startswith(f'services.db.deploy.mode is "{mode}": it ends')


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("entrypoint: []\n    command: [a, b]", ("a b", None)),
        ('command: ""', ("/entry", None)),
        ("command: []", ("/entry", None)),
        ('entrypoint: /other\n    command: ""', ("/other", None)),
        ("entrypoint: ''", None),
    ],
)
def test_empty_words_are_none(
    tmp_path: Path, said: str, words: tuple[str, str | None] | None
) -> None:
    text = f"services:\n  web:\n    image: shop\n    ports: ['80:3000']\n    {said}\n"
    if words is None:
        assert "no other words to run" in refused(tmp_path, text)
        return
    web = of(tmp_path, text).system["web"]
    assert (web["entrypoint"], web.get("command")) == words
