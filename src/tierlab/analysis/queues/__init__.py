"""What stood where, for how long, and who was waited for? From the visits to each server."""
