"""Snapshots of virtual machines that have booted: taken once, restored for every trial after."""
