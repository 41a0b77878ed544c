"""Checks of this machine, one file a group; each really tries what it speaks about."""
