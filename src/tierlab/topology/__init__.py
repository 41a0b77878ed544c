"""Who calls whom: the one graph of a system's servers and calls."""

from tierlab.topology.protocols import PROTOCOLS, TLS, UNREAD, usual_at, wire
from tierlab.topology.seen import Seen, heard, spoken
from tierlab.topology.topology import Call, Topology

__all__ = [
    "PROTOCOLS",
    "TLS",
    "UNREAD",
    "Call",
    "Seen",
    "Topology",
    "heard",
    "spoken",
    "usual_at",
    "wire",
]
