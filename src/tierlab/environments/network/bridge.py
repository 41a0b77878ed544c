"""The bridge of a trial, for domains that have a kernel, and so an address, of their own.

It is in the trial's network namespace, which has no other way out, and goes with it. Users are on
this side of it: the namespace holds all of their addresses at once, as its own (a local route; the
kernel's "AnyIP"), and each domain sends what is for them to `gateway`.
"""

from __future__ import annotations

from pathlib import Path

from tierlab.environments.addresses import Addresses
from tierlab.environments.network.netns import Namespace
from tierlab.errors import UserError

LOCAL_TABLE, LOCAL_TYPE = 255, 2
"""``RT_TABLE_LOCAL`` and ``RTN_LOCAL`` of rtnetlink(7)."""

SETTINGS = {
    # Nothing but the domains' own messages is to be on the wire.
    "net/ipv6/conf/all/disable_ipv6": "1",
    # A trial's domains reach one another over the bridge, and nobody through this host.
    "net/ipv4/ip_forward": "0",
}


def gateway(addresses: Addresses) -> str:
    """The bridge's own address, to which domains send what is not for one another."""
    return str(addresses.servers[1])


def create(namespace: Namespace, addresses: Addresses) -> None:
    """Make the bridge in the namespace, with all the users' addresses behind it."""
    # Here: who makes no bridge need not wait until it is loaded.
    from pyroute2 import NetlinkError

    try:
        namespace.inside(lambda: _create(addresses))
    except (OSError, NetlinkError) as error:
        raise UserError(
            f"{addresses.interface}: cannot make the trial's bridge ({error});"
            " 'tierlab doctor' says what this machine allows."
        ) from error


def _create(addresses: Addresses) -> None:
    from pyroute2 import IPRoute

    for name, value in SETTINGS.items():
        path = Path("/proc/sys", name)
        if path.exists():
            path.write_text(value)
    with IPRoute() as route:
        # No spanning tree and no delay: a port forwards from its first frame on.
        route.link(
            "add", ifname=addresses.interface, kind="bridge", br_stp_state=0, br_forward_delay=0
        )
        bridge = route.link_lookup(ifname=addresses.interface)[0]
        servers = addresses.servers
        route.addr("add", index=bridge, address=gateway(addresses), prefixlen=servers.prefixlen)
        route.link("set", index=bridge, state="up")
        loopback = route.link_lookup(ifname="lo")[0]
        for users in (addresses.users, addresses.crowd):
            route.route(
                "add", dst=str(users), oif=loopback, table=LOCAL_TABLE, type=LOCAL_TYPE, scope=254
            )
