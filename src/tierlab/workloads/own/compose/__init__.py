"""A user's servers as a compose file describes them; see the Compose Specification."""
