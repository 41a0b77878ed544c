"""The lines of access logs: what each format has of a request."""
