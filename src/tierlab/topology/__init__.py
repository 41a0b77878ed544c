"""Who calls whom: the one graph of a system's servers and calls."""

from tierlab.topology.seen import TLS, UNREAD, WITHOUT_TLS, Seen, spoken
from tierlab.topology.topology import Call, Topology

__all__ = ["TLS", "UNREAD", "WITHOUT_TLS", "Call", "Seen", "Topology", "spoken"]
