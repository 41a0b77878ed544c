"""Compose files: what of them becomes servers, and each mistake in a sentence, all at once."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from tierlab.cli.init import init
from tierlab.deploy.system import System
from tierlab.environments.addresses import LOOPBACK
from tierlab.environments.capability import Probe
from tierlab.environments.containers.oci_image import OciImage
from tierlab.errors import UserError
from tierlab.experiment import load
from tierlab.servers import image, image_options
from tierlab.workloads.own.compose import service
from tierlab.workloads.own.compose.expand import expanded
from tierlab.workloads.own.secrets import is_secret_variable

IMAGES = {
    "shop": {"Cmd": ["node", "main.js"], "ExposedPorts": {"3000/tcp": {}}},
    "postgres:15": {
        "Entrypoint": ["/entry"],
        "Cmd": ["postgres"],
        "ExposedPorts": {"5432/tcp": {}},
    },
    "redis": {"Cmd": ["redis-server"], "ExposedPorts": {"6379/tcp": {}}},
    "silent": {"Cmd": ["run"]},
}
FILE = """\
x-common: &common
  restart: always
  environment: &variables
    MODE: ${MODE:-production}
    PAGES: 10
    DEBUG: false
services:
  web-front:
    <<: *common
    image: ${REGISTRY-}shop
    command: node main.js --greeting "good day" $$HOME
    environment:
      <<: *variables
      DATABASE_URL: postgres://shop:pw@database:5432/shop
    env_file: web.env
    ports: ["127.0.0.1:8080:3000/tcp"]
    depends_on: [cache]
    working_dir: /srv
    user: 1000:1000
    stop_signal: SIGINT
    volumes:
      - ./conf:/etc/shop:ro
      - type: bind
        source: ./conf
        target: /uploads
      - uploads:/var/uploads
    healthcheck: { test: "curl -f localhost:3000/health", interval: 5s }
    mem_limit: 512m
  database:
    image: postgres:15
    environment: ["POSTGRES_PASSWORD=pw"]
    networks: { inner: { aliases: [db] } }
  cache: { image: redis, scale: 2, healthcheck: { disable: true } }
  admin: { image: shop, profiles: [tools] }
volumes: { uploads: }
"""
SERVED = """\
[experiment]
name = "t"
[system]
workload = "own"
environment = "podman"
compose = "compose.yml"
sessions = { start = "/" }
webfront = { ready = "/health", environment = { MODE = "test" } }
[load]
users = 1
"""


@pytest.fixture(autouse=True)
def _images(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> OciImage:
        if name not in IMAGES:
            raise UserError(f'names "{name}", an image that podman does not have')
        return OciImage(f"{len(name):064x}", IMAGES[name])

    for module in (service, image_options):
        monkeypatch.setattr(module, "find_image", find)
    assert image.Image.kind == "image"


def of(place: Path, text: str, **system: Any) -> Mapping[str, Any]:
    (place / "compose.yml").write_text(text)
    return expanded({"workload": "own", "compose": str(place / "compose.yml"), **system}).system


@pytest.fixture
def served(tmp_path: Path) -> Path:
    (tmp_path / "conf").mkdir()
    (tmp_path / "web.env").write_text('# of the shop\nexport TOKEN="a b#c"\nMODE=overridden\n')
    (tmp_path / "compose.yml").write_text(FILE)
    (tmp_path / "e.toml").write_text(SERVED)
    return tmp_path


def test_services_are_servers_with_what_the_experiment_adds(
    served: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MODE", raising=False)
    monkeypatch.setenv("REGISTRY", "")
    (trial,) = load(served / "e.toml").trials()
    system = trial.system
    assert list(system.tiers) == ["webfront", "cache", "database"]
    assert system.callees("webfront") == ("cache", "database")
    assert system.protocols["webfront"] == ("http", 3000)
    assert system.protocols["database"] == ("postgresql", 5432)
    assert system.tiers["cache"].count == 2
    web = trial.as_file()["system"]["webfront"]
    assert web["environment"] == {
        **{"TOKEN": "a b#c", "MODE": "test", "PAGES": "10", "DEBUG": "false"},
        "DATABASE_URL": "postgres://shop:pw@database:5432/shop",
    }
    assert web["memory"] == "512MiB"
    assert (web["workdir"], web["run_as"], web["ready"]) == ("/srv", "1000:1000", "/health")
    assert web["stop_signal"] == "SIGINT"
    assert "health" not in web
    conf = served / "conf"
    assert web["volumes"] == [f"{conf}:/etc/shop:ro", f"{conf}:/uploads", "uploads:/var/uploads"]
    assert web["names"] == ["web-front"]
    assert trial.as_file()["system"]["database"]["names"] == ["db"]
    assert trial.as_file()["system"]["cache"]["health"] == "none"
    options = system.tiers["webfront"].settings.options
    assert isinstance(options, image_options.ImageOptions)
    words = image_options.words_of(options, options.found)
    assert words == ["node", "main.js", "--greeting", "good day", "$HOME"]


def test_a_run_s_own_file_runs_again_without_the_compose_file(served: Path) -> None:
    from tierlab.experiment import Experiment

    (trial,) = load(served / "e.toml").trials()
    file = trial.as_file()
    assert "compose" not in file["system"]
    (again,) = Experiment.from_tables(file).trials()
    assert again.as_file() == file


WEB = "services:\n  web:\n    image: shop\n    ports: ['80:3000']\n"
CASES = [
    ("services: [", "is not valid YAML (line 1)"),
    ("version: '3'\n", "has no services"),
    ("services: { web: { ports: [80] } }", "services.web has no image."),
    ("services: { web: { image: none } }", 'services.web.image names "none", an image that'),
    ("services: { web: { image: silent, ports: [] } }", "services.web says no port, nor does its"),
    ("services: { web: { build: ./app } }", "services.web.build is not run by Tierlab; build it"),
    (
        "services: { web: { image: shop, ports: [http] } }",
        "services.web.ports has 'http', which says no port",
    ),
    (WEB + "    cap_add: [NET_ADMIN]", "services.web.cap_add asks for rights that no server"),
    (
        WEB + "    cpus: 0.5",
        "services.web.cpus is a share of the CPUs; say in [system.web] mapping",
    ),
    (WEB + "    network_mode: host", "services.web.network_mode is not the trial's network"),
    (
        WEB + "    comand: x",
        "services.web.comand is nothing that Tierlab knows of (did you mean command?)",
    ),
    (WEB + "    depends_on: [db]", 'services.web.depends_on names "db", which is no service'),
    (WEB + "    env_file: none.env", "none.env, and there is no such file"),
    (WEB + "    env_file: latin.env", "latin.env: is not a file of variables in UTF-8; write it"),
    (WEB + "    volumes: [./none:/x]", "services.web.volumes has './none:/x', and there is no"),
    (WEB + "    volumes: [data:/x]", 'and the file has no volume "data"'),
    (WEB + "    volumes: [d:/x]\nvolumes: {d: {external: true}}", "which is external"),
    (WEB + "    secrets: [key]", 'services.web.secrets has "key", and the file has no such'),
    (WEB + "    mem_limit: much", "services.web has the limit of memory 'much'"),
    (WEB + "    command: ${COMMAND:?say it}", "services.web.command needs the variable COMMAND ("),
    (WEB + "    command: ${COMMAND", "whose brace is not closed"),
    (
        WEB + "    depends_on: {web: {condition: service_completed_successfully}}",
        "services.web.depends_on waits for itself to end; remove that",
    ),
    (
        WEB + "  other: { image: shop, ports: ['81:3000'] }",
        "services may be called by users at web, other; say which: system.entry",
    ),
    (WEB + "  db: { image: redis }", "services.db is called by no service, as far as the file"),
    (WEB + "    depends_on: db", "services.web.depends_on must be a table or a list, not 'db'"),
    (WEB + "    deploy: { resources: 3 }", "services.web.deploy.resources must be a table, not 3"),
    ("services: { db: { image: redis } }", "services has none that publishes a port and speaks"),
]


@pytest.mark.parametrize(("text", "sentence"), CASES, ids=[text[-30:] for text, _ in CASES])
def test_each_mistake_is_a_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "latin.env").write_bytes(b"NAME=Jos\xe9\n")
    with pytest.raises(UserError) as raised:
        of(tmp_path, text)
    assert str(raised.value).startswith(f"{tmp_path}/compose.yml: ")
    assert sentence in str(raised.value)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    text = WEB + "    privileged: true\n    links: [x]\n  db: { image: none, pid: host }\n"
    with pytest.raises(UserError) as raised:
        of(tmp_path, text)
    count, *lines = str(raised.value).splitlines()
    assert count.endswith("compose.yml: 4 mistakes:")
    assert [line.split()[0] for line in lines] == [
        *("services.web.privileged", "services.web.links", "services.db.pid", "services.db.image"),
    ]


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a document."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in pairs:
        yield (*above, key)
        if isinstance(each, dict | list):
            yield from places(each, (*above, key))


@pytest.mark.parametrize("other", [None, 3, "x", ["x", 3, {}], {"x": 3}], ids=repr)
def test_whatever_stands_in_a_place_is_read_or_told(served: Path, other: Any) -> None:
    for place in places(yaml.safe_load(FILE)):
        document = json.loads(json.dumps(yaml.safe_load(FILE)))
        table = document
        for key in place[:-1]:
            table = table[key]
        table[place[-1]] = other
        with contextlib.suppress(UserError):
            of(served, json.dumps(document))


def test_variables_beside_the_file_that_cannot_be_read_are_a_sentence(served: Path) -> None:
    (served / ".env").write_bytes(b"NAME=Jos\xe9\n")
    with pytest.raises(UserError, match=r"\.env: is not a file of variables in UTF-8; write it"):
        of(served, WEB)


def test_init_writes_a_file_for_a_compose_file(served: Path) -> None:
    init(served / "mine.toml", own=True, compose="compose.yml", start="/", users=3)
    (trial,) = load(served / "mine.toml").trials()
    assert trial.system.environment == "podman"
    assert list(trial.system.tiers) == ["webfront", "cache", "database"]


def test_the_file_says_who_is_called_and_who_is_no_server(tmp_path: Path) -> None:
    text = WEB + "  worker: { image: shop, depends_on: [web] }\n  db: { image: redis }\n"
    made = of(tmp_path, text, services=["web", "db"], web={"calls": ["db"]})
    assert [name for name in made if name in ("web", "worker", "db")] == ["web", "db"]
    assert made["web"]["calls"] == ["db"]
    made = of(tmp_path, text, entry="worker", web={"calls": ["db"]})
    assert list(made)[-3:] == ["worker", "web", "db"]


def test_calls_that_are_to_be_found_leave_nobody_out(tmp_path: Path) -> None:
    made = of(tmp_path, WEB + "  db: { image: redis }\n", web={"calls": "found"})
    assert list(made)[-2:] == ["web", "db"]
    assert (made["web"]["calls"], made["db"]["calls"]) == ("found", [])


def test_a_server_of_tierlab_s_takes_a_service_s_place(tmp_path: Path) -> None:
    text = WEB + "    depends_on: [db]\n  db: { image: postgres:15 }\n"
    made = of(tmp_path, text, db={"server": "postgresql"})
    assert made["db"] == {"server": "postgresql"}


TAKEN = """\
services:
  web:
    image: shop
    environment: { DATABASE_URL: "postgres://shop:pw@orders-main/shop" }
    links: ["order-db:store"]
  order-db:
    image: not-pulled
    container_name: orders-main
    cpus: 2
    env_file: none.env
    ports: [5432]
    networks: { inner: { aliases: [db] } }
    depends_on: [web]
"""
NAMES = ["order-db", "orders-main", "db", "store"]


def test_a_service_whose_place_is_taken_needs_no_image_and_keeps_its_names(tmp_path: Path) -> None:
    made = of(tmp_path, TAKEN, orderdb={"server": "postgresql", "database": "shop"})
    assert made["web"]["calls"] == ["orderdb"]
    assert made["orderdb"] == {"server": "postgresql", "database": "shop", "names": NAMES}


def test_what_takes_a_service_s_place_calls_whom_that_called(tmp_path: Path) -> None:
    text = WEB + "    depends_on: [db]\n  db: { image: redis }\n"
    made = of(tmp_path, text, web={"server": "nodejs", "port": 3000})
    assert made["web"] == {"server": "nodejs", "port": 3000, "calls": ["db"]}


def test_images_find_what_takes_a_service_s_place_by_its_names(tmp_path: Path) -> None:
    (tmp_path / "compose.yml").write_text(TAKEN)
    own = SERVED.replace("webfront =", "web =").replace("[load]", "[system.orderdb]\n%s\n[load]")
    (tmp_path / "e.toml").write_text(own % 'server = "postgresql"')
    (trial,) = load(tmp_path / "e.toml").trials()
    assert trial.as_file()["system"]["orderdb"]["names"] == NAMES
    pus, nodes = frozenset({0}), frozenset({0})
    probe = Probe("podman", frozenset(), {}, pus=pus, memory=1 << 30, nodes=nodes)
    environment: Any = SimpleNamespace(addresses=LOOPBACK, probe=lambda: probe, work=tmp_path)
    content: Any = None
    system = System(trial.system, content, environment, tmp_path)
    hosts = dict(system._spec("web.1").hosts)
    assert {hosts[name] for name in ("orderdb", *NAMES)} == {"127.0.2.1"}


@pytest.mark.parametrize(
    ("name", "value", "is_secret"),
    [
        ("POSTGRES_PASSWORD", "pw", True),
        ("PGPASSWORD", "{db.password}", False),
        ("SECRET_KEY_BASE", "x", True),
        ("DATABASE_URL", "postgres://shop:pw@db:5432/shop", True),
        ("DATABASE_URL", "postgres://shop:{db.password}@db/shop", False),
        ("REDIS_URL", "redis://cache:6379/0", False),
        ("STRIPE", "sk_live_51HxyzABCDEF0123", True),
        ("NODE_ENV", "production", False),
        ("GITHUB_TOKEN", "$GITHUB_TOKEN", False),
        ("PGDATA", "/var/lib/postgresql/data/15/main", False),
    ],
)
def test_secrets_are_known_by_name_and_by_looks(name: str, value: str, is_secret: bool) -> None:
    assert is_secret_variable(name, value) == is_secret
