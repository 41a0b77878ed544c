"""Secrets, configs and volumes of compose files, wherever their content stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.own.composed import WEB, have_images, of, refused
from tierlab.environments.contents import FileContent, known
from tierlab.servers.image_options import volume


@pytest.fixture(autouse=True)
def _places(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    have_images(monkeypatch)
    monkeypatch.setenv("TOKEN", "hid den$1\n")
    monkeypatch.delenv("NONE", raising=False)
    (tmp_path / "file.txt").write_text("f")
    (tmp_path / "folder").mkdir()


def remembered(place: Path, text: str) -> dict[str, Path]:
    """By its place in the container, the path of each file."""
    volumes = of(place, WEB + text).system["web"]["volumes"]
    parts = [each.split(":") for each in volumes]
    assert all(each[2] == "ro" for each in parts)
    return {each[1]: Path(each[0]) for each in parts}


def content(path: Path) -> FileContent:
    found = known(str(path))
    assert found is not None
    return found


def test_a_content_in_the_file_or_in_a_variable_has_a_path_of_its_own(tmp_path: Path) -> None:
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
    found = remembered(tmp_path, text)
    assert found.pop("/run/secrets/name").read_text() == "f"
    assert {name: content(path).text for name, path in found.items()} == {
        "/site": "a x $1\n",
        "/run.sh": "hid den$1\n",
        "/b/c": "a x $1\n",
        "/run/secrets/token": "hid den$1\n",
    }
    assert content(found["/site"]).rights == 0o444
    assert content(found["/run.sh"]).rights == 0o755
    assert content(found["/run/secrets/token"]).is_secret
    assert not content(found["/run.sh"]).is_secret
    again = remembered(tmp_path, text)
    assert {name: again[name] for name in found} == found


def test_reading_a_compose_file_writes_no_secret_and_no_config(tmp_path: Path) -> None:
    before = set(tmp_path.rglob("*"))
    text = "    secrets: [t]\n    configs: [c]\nsecrets: { t: { environment: TOKEN } }\n"
    found = remembered(tmp_path, f'{text}configs: {{ c: {{ content: "x" }} }}\n')
    assert len(found) == 2
    assert not any(path.exists() for path in found.values())
    assert set(tmp_path.rglob("*")) - before == {tmp_path / "compose.yaml"}


def test_the_path_of_a_secret_says_nothing_of_it_and_has_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "    secrets: [token]\nsecrets: { token: { environment: TOKEN } }\n"
    (path,) = remembered(tmp_path, text).values()
    monkeypatch.setenv("TOKEN", "new")
    assert list(remembered(tmp_path, text).values()) == [path]
    assert content(path).text == "new"
    assert "new" not in repr(content(path))


def test_secrets_of_two_variables_are_not_mixed_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER", "other")
    paths = {}
    for name in ("TOKEN", "OTHER"):
        text = f"    secrets: [token]\nsecrets: {{ token: {{ environment: {name} }} }}\n"
        (paths[name],) = remembered(tmp_path, text).values()
    assert {name: content(path).text for name, path in paths.items()} == {
        "TOKEN": "hid den$1\n",
        "OTHER": "other",
    }


def test_a_path_whose_content_nobody_knows_any_more_is_refused_with_a_remedy() -> None:
    assert volume("/x/secrets.token.ab12:/run/secrets/token:ro") == (
        "and there is no /x/secrets.token.ab12, which stands for secrets.token of a compose file;"
        " use the experiment file that names the compose file"
    )


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
