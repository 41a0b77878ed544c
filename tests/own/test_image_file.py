"""Servers that come as images: what their files may say, and where an image is looked for."""

from __future__ import annotations

import io
import json
import platform
import signal
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.own.test_own_file import changed
from tierlab.environments.containers import oci_image
from tierlab.environments.containers.oci_image import OciImage, find_image
from tierlab.errors import UserError
from tierlab.experiment import Experiment, load
from tierlab.servers import image_options
from tierlab.servers.image import Image
from tierlab.servers.image_options import ImageOptions, health_of, signal_of, words_of
from tierlab.values.toml import as_toml

SHOP = {
    "Entrypoint": ["/entry", "-x"],
    "Cmd": ["node", "main.js"],
    "ExposedPorts": {"3000/tcp": {}, "53/udp": {}},
    "Healthcheck": {"Test": ["CMD-SHELL", "curl -f localhost"]},
}
IMAGES = {
    "asks": {"StopSignal": "SIGQUIT"},
    "shop": SHOP,
    "two": SHOP | {"ExposedPorts": {"1/tcp": {}, "2/tcp": {}}},
    "bare": {},
}
Table = dict[str, Any]


@pytest.fixture
def images(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> OciImage:
        if name not in IMAGES:
            raise UserError(f'names "{name}", an image that podman does not have')
        return OciImage("ab" * 32, IMAGES[name])

    monkeypatch.setattr(image_options, "find_image", find)


def served(**web: Any) -> Table:
    return changed({"system.environment": "podman", "system.db": None, "system.web": web})


CASES: list[tuple[Table, str]] = [
    ({"image": "none"}, 'system.web.image names "none", an image that podman does not have'),
    ({"image": ""}, 'system.web.image must be an image, not ""'),
    ({"image": "two"}, "system.web.port is missing"),
    ({"image": "bare", "port": 1}, "system.web.command is missing: bare says none itself"),
    ({"image": "shop", "command": "a '"}, "system.web.command cannot be read (No closing"),
    ({"image": "shop", "folder": "x"}, "system.web.folder is a key that image does not have"),
    ({"image": "shop", "image_id": "cd" * 32}, "system.web.image_id is not that of shop on this"),
    ({"image": "shop", "run_as": "a b"}, "system.web.run_as must be a user, not"),
    ({"image": "shop", "workdir": "app"}, "system.web.workdir must be a path that begins with"),
    (
        {"image": "shop", "stop_signal": "SIGSTOPP"},
        'system.web.stop_signal is no signal of this machine: "SIGSTOPP"',
    ),
    ({"image": "shop", "names": ["-x"]}, "system.web.names has '-x', which is no name of a host"),
    ({"image": "shop", "volumes": ["data"]}, "system.web.volumes has 'data', which is not"),
    ({"image": "shop", "volumes": "/no/such:/x"}, "and there is no /no/such"),
    ({"image": "shop", "volumes": "d:/x:no"}, 'whose "no" is neither ro nor rw'),
    ({"image": "shop", "volumes": "a b:/x"}, 'and "a b" is neither a path nor a name'),
    ({"image": "shop", "health": "x", "ready": "/"}, "system.web.health says twice when it is"),
    (
        {"image": "shop", "environment": {"A": "{web.x}"}},
        "system.web.environment.A speaks of {web.x}: of a server there are",
    ),
    ({"image": "shop", "first": []}, "system.web.first must be a list of tables, each with an"),
    ({"image": "shop", "first": [{"command": "x"}]}, "system.web.first must be a list of tables"),
    ({"image": "shop", "first": [{"image": "shop", "port": 1}]}, "system.web.first must be a list"),
    (
        {"image": "shop", "first": [{"name": "a", "image": "shop"}] * 2},
        "system.web.first must be a list of tables",
    ),
    ({"image": "shop", "first": [{"image": "none"}]}, 'names "none"'),
    ({"image": "shop", "first": [{"image": "bare"}]}, "command is missing: bare says none itself"),
    (
        {"image": "shop", "first": [{"image": "shop"}, {"image": "shop", "within": "0s"}]},
        "first[2]",
    ),
    (
        {"image": "shop", "first": [{"image": "shop", "command": "x {web.y}"}]},
        "speaks of {web.y}: of a server there are",
    ),
]


@pytest.mark.usefixtures("images")
@pytest.mark.parametrize(
    ("keys", "stopped_by"),
    [
        ({"image": "shop"}, signal.SIGTERM),
        ({"image": "asks"}, signal.SIGQUIT),
        ({"image": "asks", "stop_signal": "INT"}, signal.SIGINT),
        ({"image": "asks", "stop_signal": "SIGRTMIN+3"}, signal.SIGRTMIN + 3),
    ],
)
def test_the_files_signal_goes_before_the_images(keys: dict[str, str], stopped_by: int) -> None:
    """A compose file's was read and not heeded."""
    server = Image.__new__(Image)
    server.options = ImageOptions.model_construct(**keys)
    assert server.stops_by == stopped_by


@pytest.mark.parametrize("said", ["SIGINT", "INT", "sigint", "2"])
def test_a_signal_is_said_by_its_name_or_number(said: str) -> None:
    assert signal_of(said) == signal.SIGINT
    assert signal_of("") is None
    assert signal_of("99") is None


def test_a_real_time_signal_is_said_by_its_distance_from_another() -> None:
    """Images of systemd stop by SIGRTMIN+3; a compose file that said so was refused."""
    assert signal_of("SIGRTMIN+3") == signal.SIGRTMIN + 3
    assert signal_of("rtmax-1") == signal.SIGRTMAX - 1
    assert signal_of("SIGRTMIN-3") is None
    assert signal_of("SIGRTMAX+1") is None


@pytest.mark.usefixtures("images")
@pytest.mark.parametrize(("web", "sentence"), CASES, ids=[text[-30:] for _, text in CASES])
def test_each_mistake_is_a_sentence(web: Table, sentence: str) -> None:
    with pytest.raises(UserError) as raised:
        Experiment.from_tables(served(**web), "my.toml")
    assert sentence in str(raised.value)


@pytest.mark.usefixtures("images")
def test_an_image_needs_podman() -> None:
    document = served(image="shop")
    del document["system"]["environment"]
    with pytest.raises(UserError, match=r'system.environment must be "podman": web comes as an'):
        Experiment.from_tables(document, "my.toml")


@pytest.mark.usefixtures("images")
@pytest.mark.parametrize(
    ("web", "words"),
    [
        ({}, "/entry -x node main.js"),
        ({"command": "node other.js"}, "/entry -x node other.js"),
        ({"entrypoint": "/mine"}, "/mine"),
        ({"entrypoint": "/mine", "command": "a 'b c'"}, "/mine a b c"),
    ],
)
def test_the_image_says_what_the_file_does_not(web: Table, words: str) -> None:
    (trial,) = Experiment.from_tables(served(image="shop", **web), "my.toml").trials()
    assert trial.system.protocols == {"web": ("http", 3000)}
    options = trial.system.tiers["web"].settings.options
    assert isinstance(options, ImageOptions)
    assert " ".join(words_of(options, options.found)) == words
    health = health_of(options, options.found)
    assert health is not None
    assert health.words == ("/bin/sh", "-c", "curl -f localhost")
    assert trial.as_file()["system"]["web"]["image_id"] == "ab" * 32
    (again,) = Experiment.from_tables(trial.as_file(), "my.toml").trials()
    assert again.as_file() == trial.as_file()


def layout(config: Table) -> dict[str, bytes]:
    """The files of an OCI image layout without layers."""
    blob = json.dumps({"config": config}).encode()
    manifest = json.dumps({"config": {"digest": f"sha256:{'c0' * 32}"}, "layers": []}).encode()
    index = json.dumps({"manifests": [{"digest": f"sha256:{'b0' * 32}"}]}).encode()
    blobs = {f"blobs/sha256/{'b0' * 32}": manifest, f"blobs/sha256/{'c0' * 32}": blob}
    return {"index.json": index, **blobs}


def nested(config: Table) -> dict[str, bytes]:
    """The same as `docker save` writes it of containerd's images, and buildx: in an index of its
    own, beside another machine's and what tells where it comes from.
    """
    files = layout(config)
    described = json.dumps({"config": {"digest": f"sha256:{'0a' * 32}"}, "layers": []}).encode()
    machine = platform.machine()
    here = oci_image.ARCHITECTURES.get(machine, machine)
    listed = [
        {"digest": f"sha256:{digest * 32}", "platform": {"architecture": name, "os": system}}
        for digest, name, system in (
            *(("d0", "unknown", "unknown"), ("d0", "riscv32", "linux")),
            *(("d0", here, "windows"), ("b0", here, "linux")),
        )
    ]
    inner = json.dumps({"manifests": listed}).encode()
    outer = json.dumps({"manifests": [{"digest": f"sha256:{'e0' * 32}"}]}).encode()
    return files | {
        "index.json": outer,
        f"blobs/sha256/{'e0' * 32}": inner,
        f"blobs/sha256/{'d0' * 32}": described,
        f"blobs/sha256/{'0a' * 32}": json.dumps({}).encode(),
    }


def packed(files: dict[str, bytes], path: Path) -> None:
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def test_archives_and_folders_of_images_are_read(tmp_path: Path) -> None:
    for name, content in layout(SHOP).items():
        (tmp_path / "oci" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "oci" / name).write_bytes(content)
    packed(layout(SHOP), tmp_path / "oci.tar")
    packed(nested(SHOP), tmp_path / "saved.tar")
    manifest = json.dumps([{"Config": f"{'c0' * 32}.json", "Layers": []}]).encode()
    config = json.dumps({"config": SHOP}).encode()
    packed({"manifest.json": manifest, f"{'c0' * 32}.json": config}, tmp_path / "docker.tar")
    for name, transport in (
        *(("oci", "oci"), ("oci.tar", "oci-archive"), ("docker.tar", "docker-archive")),
        ("saved.tar", "oci-archive"),
    ):
        found = find_image(str(tmp_path / name))
        assert (found.id, found.archive) == ("c0" * 32, f"{transport}:{tmp_path / name}")
        assert found.ports == (3000,)
        assert found.words("Cmd") == ("node", "main.js")
    (tmp_path / "text").write_text("none")
    with pytest.raises(UserError, match="which is no archive or folder of an OCI image"):
        find_image(str(tmp_path / "text"))


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("nginx:1.27", "docker.io/library/nginx:1.27"),
        ("bitnami/redis", "docker.io/bitnami/redis"),
        ("quay.io/shop/web", "quay.io/shop/web"),
        ("host:5000/web", "host:5000/web"),
        ("localhost/web", "localhost/web"),
    ],
)
def test_an_image_that_podman_lacks_is_pulled_by_its_full_name(
    monkeypatch: pytest.MonkeyPatch, name: str, full: str
) -> None:
    """Debian's podman takes no other."""
    monkeypatch.setattr(oci_image, "locate", lambda _program: "/bin/false")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    with pytest.raises(UserError) as raised:
        find_image(name)
    assert f"get it first: podman pull {full}, or of" in str(raised.value)
    assert str(raised.value).endswith(f"docker save {name} | podman load")


def test_paths_of_images_and_volumes_begin_where_the_file_is(tmp_path: Path) -> None:
    packed(layout(SHOP), tmp_path / "shop.tar")
    (tmp_path / "site").mkdir()
    document = served(image="shop.tar", volumes=["./site:/site:ro", "data:/data"])
    lines = [f"{name} = {as_toml(table)}" for name, table in document.items()]
    (tmp_path / "e.toml").write_text("\n".join(lines))
    (trial,) = load(tmp_path / "e.toml").trials()
    web = trial.as_file()["system"]["web"]
    assert web["image"] == str(tmp_path / "shop.tar")
    assert web["volumes"] == [f"{tmp_path}/site:/site:ro", "data:/data"]
