"""The trial's network: namespaces, bridges, TCP."""
