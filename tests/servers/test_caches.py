"""Caches and stores, each brought up alone: what was asked is in force, and last words are kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tierlab.deploy.lifecycle import Instance
from tierlab.environments.capability import Capability
from tierlab.environments.domain import DomainSpec
from tierlab.environments.native.native import Native
from tierlab.environments.placement import Placement
from tierlab.errors import UserError
from tierlab.servers.application import Pages
from tierlab.servers.base import Server, Settings, Site
from tierlab.servers.content import Content
from tierlab.servers.database import Credentials
from tierlab.servers.endpoint import Endpoint
from tierlab.servers.kinds import KINDS
from tierlab.servers.resp import Resp
from tierlab.values.quantities import MIB

pytestmark = pytest.mark.privileged

LOGIN = Credentials("it", "secret", "it")
UNLIMITED = Placement()


def server(
    native: Native,
    kind: str,
    soft: Mapping[str, int],
    placement: Placement = UNLIMITED,
    **options: Any,
) -> Instance:
    """An instance of this kind in a domain of its own, not started yet."""
    software: type[Server] = KINDS[kind]
    (protocol, port), *_ = software.ports.items()
    domain = native.create(DomainSpec("cache.1", placement, address="127.0.1.1"))
    domain.boot()
    site = Site(native, domain, Endpoint("127.0.1.1", port, protocol))
    settings = Settings(software.complete(soft, options), software.own_options(**options))
    content = Content(Pages(domain.folder, "/"), None, LOGIN)
    return Instance(software(site, settings, content))


def test_memcached_has_what_was_asked(native: Native) -> None:
    soft = {"threads": 3, "max_connections": 50, "memory": 8 * MIB, "backlog": 77}
    cache = server(native, "memcached", soft)
    cache.start()
    try:
        settings = cache.server.statistics("stats settings")
        found = {name: settings[name] for name in ("num_threads", "maxconns", "maxbytes")}
        assert found == {"num_threads": "3", "maxconns": "50", "maxbytes": str(8 * MIB)}
        assert settings["tcp_backlog"] == "77"
        assert cache.server.resize("memory", 16 * MIB) == 16 * MIB
        with pytest.raises(UserError, match="memcached cannot resize threads while it runs"):
            cache.server.resize("threads", 2)
    finally:
        cache.stop()
    kept = (cache.server.site.folder / "logs/stats.tsv").read_text().splitlines()
    assert dict(line.split("\t") for line in kept)["limit_maxbytes"] == str(16 * MIB)


def test_redis_has_what_was_asked_and_what_changes_while_it_runs(native: Native) -> None:
    soft = {"threads": 2, "max_connections": 50, "memory": 8 * MIB, "backlog": 77}
    store = server(native, "redis", soft, eviction="allkeys-lru", append_only=True)
    store.start()
    try:
        asked = ("io-threads", "maxmemory", "maxmemory-policy", "tcp-backlog", "save")
        with Resp(store.server.site.connect()) as link:
            found = [link.ask("CONFIG", "GET", name) for name in asked]
            assert link.ask("SET", "a", "b") == "OK"
        expected = ("2", str(8 * MIB), "allkeys-lru", "77", "")
        assert found == [[name, value] for name, value in zip(asked, expected, strict=True)]
        assert (store.server.site.folder / "redis.sock").is_socket()
        assert store.server.resize("memory", 16 * MIB) == 16 * MIB
        assert store.server.resize("max_connections", 40) == 40
        with pytest.raises(UserError, match="cannot resize threads"):
            store.server.resize("threads", 3)
    finally:
        store.stop()
    kept = (store.server.site.folder / "logs/info.txt").read_text()
    assert "cmdstat_set:calls=1," in kept
    assert any((store.server.site.folder / "data").rglob("*.aof"))


def test_redis_starts_where_its_memory_is_limited(native: Native) -> None:
    """Its program is Debian's link to another of its own; it goes by the name that it is run by."""
    if (reason := native.probe().cannot.get(Capability.MEMORY)) is not None:
        pytest.skip(reason)
    limit = Placement(memory=128 * MIB)
    store = server(native, "redis", {"memory": 8 * MIB}, limit)
    store.start()
    try:
        with Resp(store.server.site.connect()) as link:
            assert link.ask("SET", "a", "b") == "OK"
        assert store.server.site.domain.read_back().memory == limit.memory
    finally:
        store.stop()


def test_a_limit_of_open_files_is_told(native: Native, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = server(native, "memcached", {"max_connections": 60})
    monkeypatch.setitem(cache.server.soft, "max_connections", 50)
    command = cache.server.command()
    monkeypatch.setattr(cache.server, "command", lambda: [*command[:-4], "-c", "40"])
    with pytest.raises(UserError, match=r"cache\.1: max_connections 50 asked, 40 in force"):
        cache.start()
    cache.stop()
