"""This machine: its topology and fingerprint, and what it can and cannot measure."""
