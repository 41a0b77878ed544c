"""Daemons of a trial's own, beside the machine's."""
