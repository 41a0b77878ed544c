"""What works of a system, after one user went through it: a sentence each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

from tierlab.analysis.checked_calls import Checked, CheckedCalls
from tierlab.tables.manifest import Manifest

WORDS = {
    "refused": "nobody listens there",
    "text_missing": "the page does not say what `expect` asks for",
    "request_timeout": "no reply came in time",
    "connect_timeout": "no connection came about in time",
    "no_reply": "the connection was closed without a reply",
    "cut": "the check ended first",
}
"""What the driver's errors mean to whoever checks."""

PARTS = {"image": "a picture on it", "static": "a style, script or font of it"}
"""What is fetched after a page, as the driver's errors begin with it."""

REDIRECTIONS = ("301", "302", "303", "307", "308")
"""Statuses that say that what was asked for is elsewhere."""


def checked(folder: Path, manifest: Manifest, calls: CheckedCalls) -> list[Checked]:
    """What the tables of a run folder show, in a request's order."""
    found = [*_servers(folder, manifest), *calls.found, *_interactions(folder, manifest)]
    return [*found, *_missed(folder)]


def _servers(folder: Path, manifest: Manifest) -> Iterator[Checked]:
    calls: dict[str, list[str]] = {call.callee: [] for call in manifest.calls or ()}
    for call in manifest.calls or ():
        calls[call.callee].append(call.caller)
    visits = _counts(folder, "visits", "server", "true")
    for name, server in manifest.servers.items():
        if server.where is None:
            yield Checked(True, f"{name} ({server.server}) runs.")
            continue
        where = f"{name} ({server.server}) is up at {server.where}"
        if visits is None:
            yield Checked(True, f"{where}.")
            continue
        if manifest.visits_unseen(name):
            also = f" and {server.socket}" if server.port else ""
            yield Checked(None, f"{where}{also}; requests at this UNIX socket are not seen.")
            continue
        count = visits.get(name, 0)
        callers = f" of {' and '.join(calls[name])}" if name in calls else ""
        if count:
            yield Checked(True, f"{where}, and answered {count} requests{callers}.")
        else:
            yield Checked(
                False,
                f"{where}, but got no request{callers}: say in `calls` who calls it, and that"
                " server where it is.",
            )


def _counts(folder: Path, table: str, column: str, wanted: str) -> dict[str, int] | None:
    path = folder / f"{table}.parquet"
    if not path.exists():
        return None
    query = f"SELECT {column}, count(*) FROM read_parquet(?) WHERE {wanted} GROUP BY 1"
    return dict(duckdb.execute(query, [str(path)]).fetchall())


def _interactions(folder: Path, manifest: Manifest) -> Iterator[Checked]:
    path = folder / "requests.parquet"
    if not path.exists():
        yield Checked(False, "No user sent a request.")
        return
    rows = duckdb.execute(
        """SELECT interaction, count(*), count(error), min(error),
                  median(end_ns - start_ns) FILTER (error IS NULL) / 1e6
           FROM read_parquet(?) WHERE coalesce(error, '') <> 'cut'
           GROUP BY interaction ORDER BY min(start_ns)""",
        [str(path)],
    ).fetchall()
    if not rows:
        yield Checked(False, "No request came to its end; check for longer with --seconds.")
    sent_off = _sent_off(manifest)
    for name, count, failed, error, median_ms in rows:
        if failed == 0:
            yield Checked(True, f"{name}: {count} of {count} worked, {median_ms:.1f} ms each.")
        else:
            good = "none" if failed == count else f"{count - failed}"
            why = _meant(error, sent_off.get(name), folder)
            yield Checked(False, f"{name}: {good} of {count} worked: {why}.")


def _sent_off(manifest: Manifest) -> dict[str, str]:
    """By interaction: where off the site a reply sent its user."""
    said = (each.get("sent_off", {}) for each in manifest.observation.summaries.values())
    return {name: where for each in said for name, where in each.items()}


def _meant(error: str, sent_off: str | None, folder: Path) -> str:
    kind, _, rest = error.partition("_")
    if kind in PARTS:
        return f"{PARTS[kind]}{_with(rest, folder)} failed: {_meant(rest, None, folder)}"
    if not error.startswith("status_"):
        return WORDS.get(error, error)
    status = error.removeprefix("status_")
    said = f"the reply has status {status}"
    if sent_off is None or status not in REDIRECTIONS:
        return said
    said += f" and sends users to {sent_off}, which is off the site"
    if sent_off.lower().startswith("https:"):
        return f"{said}: they speak no TLS; have the application not redirect to HTTPS"
    host = sent_off.partition("//")[2]
    return f'{said}; say host = "{host}" in the first server\'s table if that is its name'


def _with(error: str, folder: Path) -> str:
    """Where the replies with that status were, as far as their visits were seen."""
    status = error.removeprefix("status_")
    if not status.isdecimal():
        return ""
    labels = _counts(folder, "visits", "label", f"status = {status}") or {}
    http = [label for label in labels if label.startswith(("GET ", "HEAD "))]
    return f" ({max(http, key=labels.__getitem__)})" if http else ""


def _missed(folder: Path) -> Iterator[Checked]:
    """Kinds of page that users were to ask for and did not."""
    seen = _counts(folder, "requests", "interaction", "true") or {}
    for file in sorted((folder / "logs").glob("workload*.json")):
        described = json.loads(file.read_text(encoding="utf-8"))
        for name in dict.fromkeys(map(_shown, _in_order(described))):
            if name not in seen:
                yield Checked(
                    False,
                    f"{name}: never came to it: what was asked for before failed, or lacked what"
                    " this needs.",
                )


def _in_order(described: dict[str, Any]) -> list[dict[str, Any]]:
    """The states that every session goes through: where each is the only one after another."""
    states = {state["name"]: state for state in described["states"]}
    found = []
    for session in described["sessions"]:
        after = [to for to in session["transitions"].values() if len(to) == 1]
        found += [states[name] for ((name, _),) in after if name in states]
    return found


def _shown(state: dict[str, Any]) -> str:
    return str(state.get("interaction") or state["name"])
