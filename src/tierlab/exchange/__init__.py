"""Formats of other people's tools, one file each: read into plain values."""
