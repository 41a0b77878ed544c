"""Who calls whom: the one graph of a system's servers and calls."""

from tierlab.topology.seen import TLS, UNREAD, Seen, spoken
from tierlab.topology.topology import Call, Topology

__all__ = ["TLS", "UNREAD", "Call", "Seen", "Topology", "spoken"]
