"""Bare processes on this host, and what all domains on it share."""
