"""Services that end before others begin, such as migrations: who runs them, and how.

A trial's servers do not end. What has to be done before one begins is done in its own container,
by its own entry point, if both come as the same image. Otherwise it is done in another container,
which the server's table has under `first`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from tierlab.servers.placeholders import literal
from tierlab.workloads.own.compose.build import image_of
from tierlab.workloads.own.compose.findings import Findings
from tierlab.workloads.own.compose.service import COMPLETED, Reader, Service
from tierlab.workloads.own.secrets import is_secret_variable

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
OF_FIRST = ("image", "command", "entrypoint", "run_as", "workdir", "volumes", "within")
"""What a table of `first` has of a service's."""


def awaited(services: Mapping[str, Mapping[str, Any]], names: Sequence[str]) -> frozenset[str]:
    """Return the services whose end these, and those whose end they wait for, wait for."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        own = waiting.pop()
        stated = services[own].get("depends_on")
        for name, how in stated.items() if isinstance(stated, dict) else ():
            ends = (how or {}).get("condition") == COMPLETED and name in services
            if ends and name not in (*found, own):
                found.add(name)
                waiting.append(name)
    return frozenset(found)


def run_before(
    services: Mapping[str, Mapping[str, Any]],
    names: Sequence[str],
    once: frozenset[str],
    chosen: Any,
    reader: Reader,
) -> dict[str, Mapping[str, Any]]:
    """Return, of the services that end, those that are run, as the file has them: all but those
    that `chosen` leaves out and that have an image of their own.

    Two services that are built from the same have one image, by the name of the server's.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for name in (each for each in services if each in once):
        said = services[name]
        alike = [each for each in names if _made_of(services[each]) == _made_of(said)]
        if alike and said.get("image") is None:
            other = image_of(alike[0], services[alike[0]], reader.project)
            found[name] = {**said, "image": other}
        elif alike or not isinstance(chosen, list) or name in chosen:
            found[name] = said
        else:
            reader.findings.note(
                f"{name}, whose end others wait for, is not run: system.services leaves it out"
            )
    return found


def _made_of(said: Mapping[str, Any]) -> tuple[Any, Any]:
    return said.get("image"), said.get("build")


def before(service: Service, once: Mapping[str, Service]) -> list[Service]:
    """Return the services that end before this one begins, in the order in which they run."""
    found: list[Service] = []

    def visit(name: str, above: frozenset[str]) -> None:
        each = once.get(name)
        if each is None or each in found or name in above:
            return
        for earlier in each.first:
            visit(earlier, above | {name})
        found.append(each)

    for name in service.first:
        visit(name, frozenset())
    return found


def with_first(
    service: Service,
    table: Mapping[str, Any],
    first: Sequence[Service],
    findings: Findings,
) -> dict[str, Any]:
    """Return a server's table that runs other services to their end and then what it ran before:
    in containers of their own as far as they need one, and then by its entry point.
    """
    made = dict(table)
    hindrances = [_hindrance(each, service, made) for each in first]
    # They run in their order, so what is before one in a container of its own has one, too.
    apart = max((at for at, why in enumerate(hindrances, 1) if why is not None), default=0)
    if apart:
        made["first"] = [_table(each) for each in first[:apart]]
    for each, why in zip(first[:apart], hindrances, strict=False):
        because = "one after it does" if why is None else why
        findings.note(
            f"{each.name} runs to its end in a container of its own before {service.name} begins,"
            f" as {because} (what it writes to a folder of yours stays only if the volume says rw)"
        )
    scripts = []
    for each in first[apart:]:
        _lend(each, made)
        scripts.append(_script(each, service, _folder(service, table)))
        findings.note(
            f"{service.name} runs {each.name} to its end before it begins, in its own container (if"
            " both take over 60 s, say within in its table)"
        )
        if made.get("count", 1) not in (1, "1"):
            findings.note(f"{each.name} runs once for each of {made['count']} {service.name}")
    if scripts:
        own = _own_words(service, made)
        script = " && ".join([*scripts, 'exec "$@"'])
        made["entrypoint"] = shlex.join(["/bin/sh", "-c", script, service.name, *own])
        if "command" not in made and "entrypoint" not in table and service.found is not None:
            made |= {"command": shlex.join(words)} if (words := service.found.words("Cmd")) else {}
    return made


def _hindrance(each: Service, service: Service, table: Mapping[str, Any]) -> str | None:
    """Return why one cannot run in another's container; None if it can."""
    if each.table.get("image") != table.get("image"):
        return f"they are of different images ({each.table.get('image')}, {table.get('image')})"
    if each.table.get("run_as") != table.get("run_as"):
        return "they run as different users"
    if not _words(each):
        return f"{each.name} has no command"
    places = {_place(text): text for text in table.get("volumes") or ()}
    for text in each.table.get("volumes") or ():
        if places.get(_place(text), text) != text:
            return f"both have something else at {_place(text)}"
    return _variables_hinder(_variables(each), _variables(service))


def _variables_hinder(theirs: Mapping[str, str], own: Mapping[str, str]) -> str | None:
    """Return why variables cannot be given to one that runs in another's container."""
    for name, value in theirs.items():
        if name in own and own[name] != value and _is_secret(name, value):
            return f"the secret {name} is not the same to both"
        if own.get(name) != value and not _NAME.fullmatch(name):
            return f"no shell can set its variable {name}"
    return None


def _place(volume: str) -> str:
    return volume.partition(":")[2].partition(":")[0]


def _lend(each: Service, table: dict[str, Any]) -> None:
    """Give a server the volumes and the secrets of one that runs before it."""
    volumes = list(table.get("volumes") or ())
    volumes += [text for text in each.table.get("volumes") or () if text not in volumes]
    if volumes:
        table["volumes"] = volumes
    own = dict(table.get("environment") or {})
    lent = {
        name: literal(value)
        for name, value in _variables(each).items()
        if name not in own and _is_secret(name, value)
    }
    if lent:
        table["environment"] = {**own, **lent}


def _table(each: Service) -> dict[str, Any]:
    """Return a service's table as one of `first`."""
    made = {key: each.table[key] for key in OF_FIRST if key in each.table}
    if variables := _variables(each):
        made["environment"] = {name: literal(value) for name, value in variables.items()}
    return {"name": each.tier, **made}


def _words(each: Service) -> list[str]:
    found = each.found
    said = each.table.get("command")
    words = None if said is None else shlex.split(str(said))
    if each.table.get("entrypoint") is not None:
        return [*shlex.split(str(each.table["entrypoint"])), *(words or ())]
    if found is None:
        return words or []
    return [*found.words("Entrypoint"), *(found.words("Cmd") if words is None else words)]


def _own_words(service: Service, table: Mapping[str, Any]) -> list[str]:
    if table.get("entrypoint") is not None:
        return shlex.split(str(table["entrypoint"]))
    return [] if service.found is None else list(service.found.words("Entrypoint"))


def _script(each: Service, service: Service, folder: str) -> str:
    """Return the shell's words that run one to its end, with its variables and in its folder."""
    theirs, own = _variables(each), _variables(service)
    parts = []
    of_image = _of_image(each)
    for name in (name for name in own if name not in theirs and _NAME.fullmatch(name)):
        known = of_image.get(name)
        parts.append(f"unset {name}" if known is None else f"export {name}={shlex.quote(known)}")
    for name, value in theirs.items():
        if own.get(name) != value and not _is_secret(name, value):
            parts.append(f"export {name}={shlex.quote(value)}")
    if _folder(each, each.table) != folder:
        parts.append(f"cd {shlex.quote(_folder(each, each.table))} || exit")
    return f"({'; '.join([*parts, f'exec {shlex.join(_words(each))}'])})"


def _is_secret(name: str, value: str) -> bool:
    """Whether a value of the compose file is a secret; no dollar in it stands for anything."""
    return is_secret_variable(name, literal(value))


def _variables(service: Service) -> dict[str, str]:
    """Return a service's variables as the compose file has them."""
    return dict(service.table.get("environment") or {})


def _of_image(service: Service) -> dict[str, str]:
    """Return the variables that a service's image sets."""
    said = [] if service.found is None else service.found.config.get("Env") or []
    return {name: value for name, _, value in (str(each).partition("=") for each in said)}


def _folder(service: Service, table: Mapping[str, Any]) -> str:
    found = None if service.found is None else service.found.config.get("WorkingDir")
    return str(table.get("workdir") or found or "/")
