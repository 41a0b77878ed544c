"""Watching servers: the agents with their plans, on the host and inside of guests."""
