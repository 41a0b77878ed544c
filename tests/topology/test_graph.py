"""Graphs of servers: chains, branches, shared servers, tiers that call themselves."""

from __future__ import annotations

from tierlab.tables.manifest import Manifest
from tierlab.topology import Call, Topology


def graph(*calls: str) -> Topology:
    """From `"caller callee"`; a server's tier is its name up to the point."""
    pairs = [call.split() for call in calls]
    names = dict.fromkeys(name for pair in pairs for name in pair)
    tiers = {name: name.partition(".")[0] for name in names}
    return Topology(tiers, tuple(Call(caller, callee, "any") for caller, callee in pairs))


def test_a_cache_beside_a_database_is_as_far_from_the_users() -> None:
    branched = graph("web.1 app.1", "app.1 db.1", "app.1 cache.1")
    assert branched.depth == {"web": 0, "app": 1, "db": 2, "cache": 2}
    assert branched.callees("app.1") == ["db.1", "cache.1"]
    assert branched.callers("cache.1") == ["app.1"]
    assert branched.callers("web.1") == []


def test_what_two_tiers_call_is_behind_the_further_one() -> None:
    shared = graph("db.1 disk.1", "web.1 db.1", "web.1 app.1", "app.1 db.1", "db.1 db.1")
    assert shared.tiers == ["web", "app", "db", "disk"]
    assert shared.callers("db.1") == ["web.1", "app.1", "db.1"]


def test_two_applications_on_one_database() -> None:
    both = graph("a.1 db.1", "b.1 db.1")
    assert both.depth == {"a": 0, "b": 0, "db": 1}


def test_a_tier_that_calls_itself_and_one_that_calls_back() -> None:
    assert graph("web.1 app.1", "app.1 app.2").depth == {"web": 0, "app": 1}
    circle = graph("a.1 b.1", "b.1 a.1")
    assert set(circle.tiers) == {"a", "b"}
    assert max(circle.depth.values()) < 2


def test_below_is_whom_calls_lead_to_however_far() -> None:
    branched = graph("web.1 app.1", "app.1 db.1", "app.1 db.2", "app.1 cache.1")
    assert branched.below("web.1") == {"app.1", "db.1", "db.2", "cache.1"}
    assert branched.below("db.1") == frozenset()
    assert graph("a.1 b.1", "b.1 a.1").below("a.1") == {"b.1"}
    assert graph("a.1 a.1").below("a.1") == frozenset()


def test_users_call_what_no_other_tier_calls() -> None:
    assert graph("web.1 web.2", "web.1 app.1", "web.2 app.1").entries == ["web.1", "web.2"]


def test_each_of_a_chains_tier_calls_each_of_the_next() -> None:
    tiers = {"web.1": "web", "web.2": "web", "db.1": "db", "db.2": "db"}
    chain = Topology.chain(tiers, dict.fromkeys(tiers, "mysql"))
    pairs = [(call.caller, call.callee) for call in chain.calls]
    assert pairs == [("web.1", "db.1"), ("web.1", "db.2"), ("web.2", "db.1"), ("web.2", "db.2")]
    assert chain.servers("db") == ["db.1", "db.2"]


def manifest(**given: object) -> Manifest:
    part = {"server": "any", "address": "127.0.0.1", "port": 1, "protocol": "http"}
    servers = {name: {**part, "tier": name.partition(".")[0]} for name in ("b.1", "a.1")}
    base = {"experiment": "e", "trial": "001", "environment": "native", "workload": "w"}
    return Manifest.model_validate({**base, "created_ns": 1, "servers": servers, **given})


def test_a_manifest_keeps_the_calls() -> None:
    kept = manifest(calls=[{"caller": "a.1", "callee": "b.1", "protocol": "http"}])
    again = Manifest.model_validate_json(kept.model_dump_json())
    assert again.topology.calls == (Call("a.1", "b.1", "http"),)
    assert again.topology.tiers == ["a", "b"]


def test_in_a_manifest_from_before_that_each_tier_calls_the_next() -> None:
    assert manifest().topology.calls == (Call("b.1", "a.1", "http"),)


def test_a_call_of_a_server_that_never_stood_is_none() -> None:
    calls = [{"caller": "a.1", "callee": each, "protocol": "http"} for each in ("b.1", "c.1")]
    assert manifest(calls=calls).topology.tiers == ["a", "b"]
