"""The system-call tracer on real servers."""
