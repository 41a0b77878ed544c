"""Domains by Xen, on an emulated host."""
