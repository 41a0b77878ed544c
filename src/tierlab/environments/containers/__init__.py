"""Containers on this host's kernel: podman, Docker and LXC."""
