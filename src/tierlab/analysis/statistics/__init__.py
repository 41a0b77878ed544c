"""Procedures that know nothing of servers: resampling, corrections, modes, association."""
