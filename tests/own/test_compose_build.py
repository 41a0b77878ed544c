"""The command that builds a service's image: all of its `build`, in one line that a shell reads."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.own.composed import have_images, of, refused


@pytest.fixture(autouse=True)
def _images(monkeypatch: pytest.MonkeyPatch) -> None:
    have_images(monkeypatch)
    monkeypatch.delenv("COMPOSE_PROJECT_NAME", raising=False)


def command(place: Path, build: str, more: str = "", below: str = "") -> list[str]:
    """The words of the command that is printed for a build, without podman's own."""
    text = f"name: Proj\nservices:\n  web:\n    ports: ['80:3000']\n    build: {build}\n"
    text += f"    {more}\n{below}"
    found = re.search(r"build it first: (.*)\.(?:\n|$)", refused(place, text))
    assert found is not None
    first, second, *words = shlex.split(found[1])
    assert (first, second) == ("podman", "build")
    return words


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (".", "-t localhost/proj-web {here}"),
        ("./app", "-t localhost/proj-web {here}/app"),
        ("https://github.com/a/b.git#main:d", "-t localhost/proj-web https://github.com/a/b.git#main:d"),
        ("git@github.com:a/b.git", "-t localhost/proj-web git@github.com:a/b.git"),
        ("{ context: app, dockerfile: d/File }",
         "-t localhost/proj-web -f {here}/app/d/File {here}/app"),
        ("{ dockerfile: /abs/File }", "-t localhost/proj-web -f /abs/File {here}"),
        ("{ target: prod }", "-t localhost/proj-web --target prod {here}"),
        ("{ args: { A: 1, B: , C: true } }",
         "-t localhost/proj-web --build-arg A=1 --build-arg B --build-arg C=true {here}"),
        ("{ args: ['A=b=c', B] }", "-t localhost/proj-web --build-arg A=b=c --build-arg B {here}"),
        ("{ additional_contexts: { x: ./x, y: 'docker-image://alpine', z: 'service:base' } }",
         "-t localhost/proj-web --build-context x={here}/x --build-context y=docker-image://alpine"
         " --build-context z=container-image://localhost/proj-base {here}"),
        ("{ additional_contexts: ['x=./x'] }",
         "-t localhost/proj-web --build-context x={here}/x {here}"),
        ("{ ssh: [default, k=/key] }", "-t localhost/proj-web --ssh default --ssh k=/key {here}"),
        ("{ ssh: default }", "-t localhost/proj-web --ssh default {here}"),
        ("{ ssh: { default: , k: /key } }",
         "-t localhost/proj-web --ssh default --ssh k=/key {here}"),
        ("{ secrets: [npm, { source: token, target: t }] }",
         "-t localhost/proj-web --secret id=npm,src={here}/npmrc --secret id=t,env=TOKEN {here}"),
        ("{ labels: [a=b], network: host, shm_size: 1g }",
         "-t localhost/proj-web --network host --shm-size 1g --label a=b {here}"),
        ("{ extra_hosts: { h: 1.2.3.4 }, ulimits: { nofile: { soft: 1, hard: 2 }, nproc: 3 } }",
         "-t localhost/proj-web --add-host h:1.2.3.4 --ulimit nofile=1:2 --ulimit nproc=3:3"
         " {here}"),
        ("{ extra_hosts: ['h=1.2.3.4', 'i:1.2.3.5'] }",
         "-t localhost/proj-web --add-host h:1.2.3.4 --add-host i:1.2.3.5 {here}"),
        ("{ no_cache: true, pull: yes, platforms: [linux/amd64], tags: ['x:1'] }",
         "-t localhost/proj-web -t x:1 --no-cache --pull --platform linux/amd64 {here}"),
        ("{ cache_from: [a], provenance: false }", "-t localhost/proj-web {here}"),
    ],
)  # fmt: skip
def test_the_command_has_all_of_it(tmp_path: Path, build: str, words: str) -> None:
    below = "  base: { build: ./base, profiles: [none] }\n"
    below += "secrets: { npm: { file: ./npmrc }, token: { environment: TOKEN } }\n"
    expected = words.format(here=tmp_path).split()
    assert command(tmp_path, build, below=below) == expected


def test_a_file_that_stands_in_the_compose_file_is_printed_to_it(tmp_path: Path) -> None:
    text = "FROM a\nRUN echo \"100%\" \\\n  && echo \\t 'x'\n"
    lines = "".join(f"        {line}\n" for line in text.splitlines())
    found = refused(
        tmp_path,
        "services:\n  web:\n    ports: ['80:3000']\n    build:\n      dockerfile_inline: |\n"
        + lines,
    )
    shell = re.search(r"build it first: (printf .*) \| podman build (.*)\.$", found)
    assert shell is not None
    assert shlex.split(shell[2])[-3:] == ["-f", "-", str(tmp_path)]
    done = subprocess.run(["/bin/sh", "-c", shell[1]], capture_output=True, text=True, check=True)
    assert done.stdout == text


def test_a_service_s_own_name_and_platform_are_its_image_s(tmp_path: Path) -> None:
    words = command(tmp_path, ".", "image: reg/x:1\n    platform: linux/arm64")
    assert words == ["-t", "reg/x:1", "--platform", "linux/arm64", str(tmp_path)]


def test_an_image_that_was_built_so_is_found_without_a_word_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    have_images(monkeypatch, **{"localhost/proj-web": {"Cmd": ["x"]}})
    found = of(tmp_path, "name: proj\nservices: { web: { build: ., ports: ['80:3000'] } }\n")
    assert found.system["web"]["image"] == "localhost/proj-web"
    assert any("localhost/proj-web is as it was built last" in each for each in found.notes)


def test_what_compose_does_not_know_is_told(tmp_path: Path) -> None:
    text = "services: { web: { image: shop, ports: [80], build: { contxt: . } } }\n"
    assert refused(tmp_path, text) == (
        "services.web.build.contxt is nothing that Tierlab knows of; remove it."
    )
