"""Secrets, configs and volumes of compose files, wherever their content stands."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.own.composed import WEB, have_images, of, refused
from tierlab.cli.main import app


@pytest.fixture(autouse=True)
def _places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    have_images(monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.setenv("TOKEN", "hid den$1\n")
    monkeypatch.delenv("NONE", raising=False)
    (tmp_path / "file.txt").write_text("f")
    (tmp_path / "folder").mkdir()


def laid(place: Path, text: str) -> dict[str, Path]:
    """By its place in the container, each file that is laid down."""
    volumes = of(place, WEB + text).system["web"]["volumes"]
    parts = [each.split(":") for each in volumes]
    assert all(each[2] == "ro" for each in parts)
    return {each[1]: Path(each[0]) for each in parts}


def test_what_stands_in_the_file_or_in_a_variable_is_laid_down(tmp_path: Path) -> None:
    text = """\
    configs: [site, { source: run, target: /run.sh, mode: 0755 }, { source: site, target: b/c }]
    secrets: [token, { source: file, target: name }]
configs:
  site: { content: "a ${MODE:-x} $$1\\n" }
  run: { environment: TOKEN }
secrets:
  token: { environment: TOKEN }
  file: { file: file.txt }
"""
    found = laid(tmp_path, text)
    assert {name: path.read_text() for name, path in found.items()} == {
        "/site": "a x $1\n",
        "/run.sh": "hid den$1\n",
        "/b/c": "a x $1\n",
        "/run/secrets/token": "hid den$1\n",
        "/run/secrets/name": "f",
    }
    assert found["/site"].stat().st_mode & 0o777 == 0o444
    assert found["/run.sh"].stat().st_mode & 0o777 == 0o755
    assert found["/site"].is_relative_to(tmp_path / "cache")
    assert found["/site"].parent.stat().st_mode & 0o777 == 0o700
    assert found == laid(tmp_path, text)


def test_clean_removes_what_was_laid_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    text = "    secrets: [t]\n    configs: [c]\nsecrets: { t: { environment: TOKEN } }\n"
    found = laid(tmp_path, f'{text}configs: {{ c: {{ content: "x" }} }}\n')
    assert CliRunner().invoke(app, ["clean", "--dry-run", "--cache"]).exit_code == 0
    assert all(path.exists() for path in found.values())
    assert CliRunner().invoke(app, ["clean", "--cache"]).exit_code == 0
    assert len(found) == 2
    assert not any(path.exists() for path in found.values())


def test_a_secret_lies_where_it_is_gone_after_a_restart_and_is_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "    secrets: [token]\nsecrets: { token: { environment: TOKEN } }\n"
    (path,) = laid(tmp_path, text).values()
    assert path.is_relative_to(tmp_path / "runtime")
    monkeypatch.setenv("TOKEN", "new")
    assert list(laid(tmp_path, text).values()) == [path]
    assert path.read_text() == "new"
    assert not list((tmp_path / "cache").rglob("*"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("configs: [x]\nconfigs: { x: { external: true } }", 'has "x", which is external'),
        ("configs: [x]\nconfigs: { x: { file: gone } }", 'has "x", and there is no '),
        ("configs: [x]\nconfigs: { x: { environment: NONE } }", "which takes the variable NONE"),
        ("configs: [x]\nconfigs: { x: { } }", "which says no file, content or environment"),
        ("configs: [x]\n", "and the file has no such entry of configs"),
        ("secrets: [x]\nsecrets: { x: { environment: NONE } }", "which takes the variable NONE"),
        ("volumes: [v:/v]\nvolumes: { v: { driver: nfs } }", 'which asks for the driver "nfs"'),
        (
            "volumes: [v:/v]\n"
            "volumes: { v: { driver_opts: { type: nfs, o: addr=h, device: ':/' } } }",
            "which is mounted by the options of its driver (type=nfs, o=addr=h, device=:/)",
        ),
        (
            "volumes: [v:/v]\nvolumes: { v: { driver_opts: { o: bind, device: ./none } } }",
            "and there is no ",
        ),
        (
            "volumes: [{ type: volume, source: v, target: /v, volume: { subpath: a } }]\n"
            "volumes: { v: }",
            "a part of a volume; name the whole one",
        ),
    ],
)
def test_what_cannot_be_had_is_refused_by_its_name(
    tmp_path: Path, text: str, sentence: str
) -> None:
    assert sentence in refused(tmp_path, f"{WEB}    {text}\n")


def test_a_volume_that_binds_a_folder_is_that_folder(tmp_path: Path) -> None:
    options = "{ type: none, o: 'bind,rw', device: ./folder }"
    text = f"    volumes: [v:/v]\nvolumes: {{ v: {{ driver: local, driver_opts: {options} }} }}\n"
    assert of(tmp_path, WEB + text).system["web"]["volumes"] == [f"{tmp_path}/folder:/v"]


IDLE = [
    ("tmpfs: ['/tmp:size=64m']", "services.web.tmpfs: without effect in a trial: size=64m"),
    (
        "volumes: [{ type: tmpfs, target: /t, tmpfs: { size: 1m } }]",
        "services.web.volumes: without effect in a trial: tmpfs",
    ),
    (
        "configs: [{ source: x, uid: '5', gid: '6' }]\nconfigs: { x: { content: a } }",
        "services.web.configs: without effect in a trial: uid, gid",
    ),
    (
        "healthcheck: { test: [CMD, x], start_period: 5s, retries: 3 }",
        "services.web.healthcheck: without effect in a trial: start_period, retries",
    ),
    (
        "networks: { a: { ipv4_address: 1.2.3.4, aliases: [x] } }\nnetworks: { a: }",
        "services.web.networks.a: without effect in a trial: ipv4_address",
    ),
    (
        "networks: [a]\nnetworks: { a: { external: true } }",
        "networks.a is external: nothing in it is reached but the servers",
    ),
    (
        "deploy: { mode: global, update_config: {}, resources: { limits: { pids: 5 } } }",
        "services.web.deploy: without effect in a trial: update_config, mode,"
        " resources.limits.pids",
    ),
    ("pids_limit: 5", "services.web: without effect in a trial: pids_limit"),
    (
        "environment: { LOG: '{port} {x}' }",
        'services.web.environment.LOG: has braces about "port", for which Tierlab puts in an'
        " address or a port",
    ),
]


@pytest.mark.parametrize(("text", "note"), IDLE, ids=[text[:20] for text, _ in IDLE])
def test_what_has_no_effect_is_noted(tmp_path: Path, text: str, note: str) -> None:
    assert note in of(tmp_path, f"{WEB}    {text}\n").notes


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("group_add: [x]", "group_add adds groups to its user"),
        ("blkio_config: { weight: 5 }", "blkio_config limits its disk"),
        ("cpuset: 0-1", "cpuset says on which CPUs it runs; say in [system.web] mapping"),
        ("runtime: nvidia", "runtime asks for another runtime"),
        ("external_links: [x]", "external_links names containers outside of the file"),
        ("use_api_socket: true", "use_api_socket asks for Docker's own socket"),
        (
            "deploy: { resources: { reservations: { devices: [{ capabilities: [gpu] }] } } }",
            "deploy.resources.reservations.devices asks for devices",
        ),
        ("profiles: x", "profiles must be a list"),
        ("post_start: [{ command: x }]", "post_start runs commands beside the server"),
    ],
)
def test_what_cannot_be_honoured_is_refused_by_its_key(
    tmp_path: Path, text: str, sentence: str
) -> None:
    assert f"services.web.{sentence}" in refused(tmp_path, f"{WEB}    {text}\n")


@pytest.mark.parametrize("protocol", ["TCP", "Tcp"])
def test_protocols_of_ports_are_known_in_either_case(tmp_path: Path, protocol: str) -> None:
    text = f"services: {{ web: {{ image: shop, ports: ['53:53/UDP', '80:4000/{protocol}'] }} }}\n"
    assert of(tmp_path, text).system["web"]["port"] == 4000


def test_a_service_that_need_not_be_is_not_missed(tmp_path: Path) -> None:
    text = "    depends_on: { gone: { condition: service_started, required: false } }\n"
    assert of(tmp_path, WEB + text).system["web"]["calls"] == []
