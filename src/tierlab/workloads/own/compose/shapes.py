"""Which of YAML's forms each key of a compose file may have, so that all else may rely on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tierlab.workloads.own.compose.findings import Findings

Shapes = Mapping[str, tuple[type, ...]]
"""Of a table's keys, those that are not any; "" of all others."""
WORDS: Mapping[type, str] = {dict: "a table", list: "a list", str: "a text"}
TABLES: Shapes = {"": (dict,)}
TOP: Shapes = dict.fromkeys(("volumes", "secrets", "configs", "networks"), (dict,))
OF_A_SERVICE: Shapes = {
    **dict.fromkeys(("image", "container_name", "hostname"), (str,)),
    **dict.fromkeys(("command", "entrypoint", "env_file", "tmpfs"), (str, list)),
    **dict.fromkeys(("environment", "depends_on", "networks"), (dict, list)),
    **dict.fromkeys(("ports", "expose", "links", "volumes", "secrets", "configs"), (list,)),
    "profiles": (list,),
    **dict.fromkeys(("healthcheck", "deploy"), (dict,)),
    "build": (str, dict),
}
OF_A_BUILD: Shapes = {
    **dict.fromkeys(("args", "labels", "additional_contexts", "extra_hosts"), (dict, list)),
    **dict.fromkeys(("tags", "secrets", "platforms"), (list,)),
    **dict.fromkeys(("context", "dockerfile", "dockerfile_inline"), (str,)),
    "ssh": (str, dict, list),
    "ulimits": (dict,),
}
BELOW: Mapping[str, Shapes] = {
    "build": OF_A_BUILD,
    "deploy": {"resources": (dict,)},
    "healthcheck": {"test": (str, list)},
    "networks": TABLES,
    "depends_on": TABLES,
}
"""Of a service's tables."""


def shaped(document: Mapping[str, Any], findings: Findings) -> dict[str, Any]:
    """A copy without what has another form, which the findings say, and without what is empty."""
    made = _checked(document, TOP, "", findings)
    for kind in TOP:
        if kind in made:
            made[kind] = _checked(made[kind], TABLES, kind, findings)
    made["services"] = {
        str(name): _service(each, f"services.{name}", findings)
        for name, each in document["services"].items()
    }
    return made


def _service(said: Mapping[str, Any], key: str, findings: Findings) -> dict[str, Any]:
    made = _checked(said, OF_A_SERVICE, key, findings)
    for name, shapes in BELOW.items():
        if isinstance(made.get(name), dict):
            made[name] = _checked(made[name], shapes, f"{key}.{name}", findings)
    deploy, networks = made.get("deploy", {}), made.get("networks")
    if "resources" in deploy:
        where = f"{key}.deploy.resources"
        tables: Shapes = {"limits": (dict,), "reservations": (dict,)}
        deploy["resources"] = _checked(deploy["resources"], tables, where, findings)
    if isinstance(networks, dict):
        made["networks"] = {
            name: _checked(each, {"aliases": (list,)}, f"{key}.networks.{name}", findings)
            for name, each in networks.items()
        }
    return made


def _checked(
    table: Mapping[Any, Any], shapes: Shapes, key: str, findings: Findings
) -> dict[str, Any]:
    """A copy with what is right; an empty table among tables is one."""
    made: dict[str, Any] = {}
    for name, value in table.items():
        shape = shapes.get(str(name), shapes.get(""))
        if shape is None or isinstance(value, shape):
            made[str(name)] = value
        elif value is not None:
            words = " or ".join(WORDS[each] for each in shape)
            where = f"{key}.{name}" if key else str(name)
            findings.wrong(where, f"must be {words}, not {value!r}")
        elif shapes is TABLES:
            made[str(name)] = {}
    return made
