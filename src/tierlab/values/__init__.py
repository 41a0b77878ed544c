"""The kinds of value that a file may hold, with their ranges and their words."""
