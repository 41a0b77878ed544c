"""The keys of a service: those that are heeded, without effect, and not to be honoured."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tierlab.workloads.own.compose.findings import Findings
from tierlab.workloads.own.compose.switches import switch

WITHOUT_EFFECT = frozenset(
    {
        *("annotations", "attach", "cap_drop", "develop", "init", "labels", "label_file"),
        *("logging", "networks", "platform", "post_stop", "pull_policy", "pull_refresh_after"),
        *("read_only", "restart", "security_opt", "shm_size", "stdin_open", "stop_grace_period"),
        *("storage_opt", "tty", "ulimits", "oom_kill_disable", "oom_score_adj", "mem_swappiness"),
        *("mem_reservation", "memswap_limit", "pids_limit", "cpu_shares", "cpu_count"),
        *("cpu_percent", "cpu_period", "cgroup", "cgroup_parent", "mac_address", "dns_opt"),
        *("dns_search", "isolation", "credential_spec"),
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
OF_A_FILE = frozenset({"services", "volumes", "networks", "secrets", "configs", "name", "version"})
"""Keys beside the services."""
REFUSED: Mapping[str, str] = {
    "blkio_config": "limits its disk, which no server of a trial has for itself",
    "cap_add": "asks for rights that no server of a trial has",
    "cpu_rt_period": "asks for a real-time share of the CPUs, which no server of a trial has",
    "cpu_rt_runtime": "asks for a real-time share of the CPUs, which no server of a trial has",
    "cpuset": "says on which CPUs it runs; say in [system.{tier}] mapping which PUs it runs on",
    "cpus": "is a share of the CPUs; say in [system.{tier}] mapping which PUs it runs on",
    "cpu_quota": "is a share of the CPUs; say in [system.{tier}] mapping which PUs it runs on",
    "device_cgroup_rules": "asks for devices, which no server of a trial has",
    "devices": "asks for devices, which no server of a trial has",
    "dns": "asks for a name server; a trial's network has none, and servers find each other",
    "external_links": "names containers outside of the file, to which no trial's network leads",
    "extra_hosts": "names hosts that a trial's network does not lead to",
    "gpus": "asks for devices, which no server of a trial has",
    "group_add": "adds groups to its user, which has those of its image in a trial",
    "ipc": "shares what every server of a trial has for itself",
    "models": "asks for a model that Docker runs, which no server of a trial has",
    "network_mode": "is not the trial's network, which all servers of a trial share",
    "pid": "shares what every server of a trial has for itself",
    "post_start": "runs commands beside the server; have its entry point run them",
    "pre_stop": "runs commands beside the server; have its entry point run them",
    "privileged": "asks for rights that no server of a trial has",
    "provider": "is made by a program besides compose",
    "runtime": "asks for another runtime than that of podman, which runs all servers of a trial",
    "sysctls": "changes what all servers of a trial share",
    "use_api_socket": "asks for Docker's own socket, which no server of a trial has",
    "userns_mode": "asks for users of its own, which no server of a trial has",
    "uts": "shares what every server of a trial has for itself",
    "volumes_from": "takes over another service's; list its volumes there",
}
SHARES = ("cpus", "cpu_quota", "cpuset")


def look_at_top(
    document: Mapping[str, Any], findings: Findings, included: Path | None = None
) -> None:
    """Note the keys of a file, beside its services, that have no effect. `included`: the file, if
    another includes it.
    """
    of = "" if included is None else f" of {included}"
    for each in document:
        if each == "models":
            findings.wrong(f"{each}{of}", REFUSED["models"])
        elif each not in OF_A_FILE and not each.startswith("x-"):
            near = difflib.get_close_matches(each, OF_A_FILE, n=1)
            meant = f" (did you mean {near[0]}?)" if near else ""
            findings.wrong(f"{each}{of}", f"is nothing that Tierlab knows of{meant}; remove it")
    for name, each in (document.get("networks") or {}).items():
        if switch(each.get("external")):
            findings.note(f"networks.{name} is external: nothing in it is reached but the servers")


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
    _look_below(key, said, findings)
    if unheeded:
        findings.note(f"{key}: without effect in a trial: {', '.join(unheeded)}")


CHECKS = {"test", "disable"}
"""Keys of a health check that are heeded."""
OF_A_NETWORK = {"aliases"}


def _look_below(key: str, said: Mapping[str, Any], findings: Findings) -> None:
    """Say what of a service's tables is not heeded."""
    below = {"healthcheck": (said.get("healthcheck") or {}, CHECKS)}
    networks = said.get("networks")
    for name, each in networks.items() if isinstance(networks, dict) else ():
        below[f"networks.{name}"] = (each or {}, OF_A_NETWORK)
    for name, (table, heeded) in below.items():
        idle = [each for each in table if each not in heeded and not each.startswith("x-")]
        if idle:
            findings.note(f"{key}.{name}: without effect in a trial: {', '.join(idle)}")
