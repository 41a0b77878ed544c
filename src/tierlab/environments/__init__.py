"""Environments: ways to make the domains that a trial's servers live in, and their removal."""
