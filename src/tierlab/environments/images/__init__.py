"""The guests' image: what is in it, how it is built, how it starts."""
