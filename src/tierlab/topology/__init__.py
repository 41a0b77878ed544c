"""Who calls whom: the one graph of a system's servers and calls."""

from tierlab.topology.topology import Call, Topology

__all__ = ["Call", "Topology"]
