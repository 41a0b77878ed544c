"""Servers of the tiers as private instances: rendered, started, ready by protocol, stopped."""
