"""The archive of an application's classes: made once for what it depends on, never in the way."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tierlab.environments.domain import Domain, DomainSpec
from tierlab.environments.native.native import Native
from tierlab.errors import UserError
from tierlab.servers.base import Site
from tierlab.servers.class_archive import ARCHIVE, CLASSES, FOLDER, class_archive
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.made_once import cache_folder, made_once
from tierlab.workloads.rubbos.shape import APPLICATION_JAR

pytestmark = pytest.mark.privileged


class Rehearsals:
    """Leaves an archive with a number in it, at each rehearsal another."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, domain: Domain) -> Path:
        self.count += 1
        folder = domain.make_folder(FOLDER)
        (folder / ARCHIVE).write_text(str(self.count))
        return folder


@pytest.fixture
def site(native: Native, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    domain = native.create(DomainSpec("app.1"))
    return Site(native, domain, Endpoint("127.0.2.1", 8009, "ajp"))


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    path = tmp_path / "app.jar"
    path.write_bytes(b"one")
    return path


def cached() -> list[str]:
    return sorted(path.name for path in cache_folder("tomcat").glob("*"))


def test_another_build_is_rehearsed_anew_though_its_size_and_time_are_the_same(
    site: Site, jar: Path
) -> None:
    rehearse = Rehearsals()
    first = class_archive(site, "tomcat", [jar], rehearse)
    again = class_archive(site, "tomcat", [jar], rehearse)
    assert first is not None
    assert (again, rehearse.count) == (first, 1)
    about = jar.stat()
    jar.write_bytes(b"two")
    os.utime(jar, ns=(about.st_atime_ns, about.st_mtime_ns))
    another = class_archive(site, "tomcat", [jar], rehearse)
    assert another is not None
    assert (first.read_text(), another.read_text()) == ("1", "2")


def test_a_rehearsal_that_fails_leaves_nothing_and_the_server_without(
    site: Site, jar: Path
) -> None:
    def fail(domain: Domain) -> Path:
        domain.make_folder(FOLDER)
        raise UserError("java left no archive of its classes.")

    assert class_archive(site, "tomcat", [jar], fail) is None
    assert cached() == []


def test_one_that_could_not_be_made_is_not_tried_again_for_the_next_trial(
    site: Site, jar: Path
) -> None:
    tried: list[Domain] = []

    def fail(domain: Domain) -> Path:
        tried.append(domain)
        raise UserError("java left no archive of its classes.")

    assert class_archive(site, "tomcat", [jar], fail) is None
    assert class_archive(site, "tomcat", [jar], fail) is None
    assert len(tried) == 1
    jar.write_bytes(b"another build")
    rehearse = Rehearsals()
    assert class_archive(site, "tomcat", [jar], rehearse) is not None
    assert rehearse.count == 1


def test_of_two_trials_that_make_it_at_once_the_quicker_one_s_is_kept(
    native: Native, tmp_path: Path
) -> None:
    folder = tmp_path / "cache" / "key"

    def be_overtaken(domain: Domain) -> Path:
        folder.mkdir(parents=True)
        (folder / ARCHIVE).write_text("the quicker one's")
        return Rehearsals()(domain)

    assert made_once(native, CLASSES, folder, be_overtaken) == folder
    assert (folder / ARCHIVE).read_text() == "the quicker one's"
    assert list(folder.parent.iterdir()) == [folder], "nothing of the slower one remains"


def test_an_archive_that_does_not_fit_keeps_no_java_from_starting(tmp_path: Path) -> None:
    archive = tmp_path / ARCHIVE
    archive.write_bytes(bytes(1 << 16))
    command = ["java", f"-XX:SharedArchiveFile={archive}", "-jar", str(APPLICATION_JAR)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr.startswith("rubbos: "), "the application's own word, without settings"
