"""The catalogue's entries, one file a root-cause class."""
