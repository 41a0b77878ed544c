"""Virtual machines of a vCenter."""
