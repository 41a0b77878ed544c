"""The keys of a service: those that are heeded, without effect, and not to be honoured."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from tierlab.workloads.own.compose.findings import Findings
from tierlab.workloads.own.compose.switches import switch

WITHOUT_EFFECT = frozenset(
    {
        *("annotations", "attach", "cap_drop", "develop", "init", "labels", "label_file"),
        *("logging", "networks", "platform", "post_stop", "pull_policy", "pull_refresh_after"),
        *("read_only", "restart", "security_opt", "shm_size", "stdin_open", "stop_grace_period"),
        *("storage_opt", "tty", "ulimits", "oom_kill_disable", "oom_score_adj", "mem_swappiness"),
    }
)
"""Keys that say nothing of what a trial measures, or no more than a trial does anyway."""
HONOURED = frozenset(
    {
        *("image", "build", "command", "entrypoint", "environment", "env_file", "ports", "expose"),
        *("depends_on", "links", "volumes", "tmpfs", "working_dir", "user", "healthcheck"),
        *("deploy", "scale", "mem_limit", "container_name", "hostname", "domainname", "profiles"),
        *("secrets", "configs", "stop_signal"),
    }
)
REFUSED: Mapping[str, str] = {
    "cap_add": "asks for rights that no server of a trial has",
    "cpus": "is a share of the CPUs; say in [system.{tier}] mapping which PUs it runs on",
    "cpu_quota": "is a share of the CPUs; say in [system.{tier}] mapping which PUs it runs on",
    "devices": "asks for devices, which no server of a trial has",
    "dns": "asks for a name server; a trial's network has none, and servers find each other",
    "extends": "takes over another service; write what it takes over there",
    "extra_hosts": "names hosts that a trial's network does not lead to",
    "gpus": "asks for devices, which no server of a trial has",
    "ipc": "shares what every server of a trial has for itself",
    "network_mode": "is not the trial's network, which all servers of a trial share",
    "pid": "shares what every server of a trial has for itself",
    "post_start": "runs commands beside the server; have its entry point run them",
    "pre_stop": "runs commands beside the server; have its entry point run them",
    "privileged": "asks for rights that no server of a trial has",
    "provider": "is made by a program besides compose",
    "sysctls": "changes what all servers of a trial share",
    "userns_mode": "asks for users of its own, which no server of a trial has",
    "uts": "shares what every server of a trial has for itself",
    "volumes_from": "takes over another service's; list its volumes there",
}
SHARES = ("cpus", "cpu_quota")


def look_at_keys(
    key: str,
    said: Mapping[str, Any],
    findings: Findings,
    tier: str,
    given: Mapping[str, Mapping[str, Any]],
) -> None:
    """Say what of a service, whose server is `tier`, is not heeded. `given`: see `Reader`."""
    unheeded = []
    for each in said:
        if each in REFUSED:
            is_placed = each in SHARES and "mapping" in given.get(tier, {})
            if switch(said[each]) and not is_placed:
                findings.wrong(f"{key}.{each}", REFUSED[each].format(tier=tier))
        elif each in WITHOUT_EFFECT:
            unheeded.append(each)
        elif each not in HONOURED and not each.startswith("x-"):
            near = difflib.get_close_matches(each, HONOURED, n=1)
            meant = f" (did you mean {near[0]}?)" if near else ""
            findings.wrong(f"{key}.{each}", f"is nothing that Tierlab knows of{meant}; remove it")
    if unheeded:
        findings.note(f"{key}: without effect in a trial: {', '.join(unheeded)}")
