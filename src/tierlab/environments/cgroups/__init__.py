"""Control groups of both versions, made and read back."""
