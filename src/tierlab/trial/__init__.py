"""The life of one trial, and of a plan of trials."""
