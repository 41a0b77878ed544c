"""UNIX stream sockets of this host's kernel: who listens where, who is connected to whom."""
