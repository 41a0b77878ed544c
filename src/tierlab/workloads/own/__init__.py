"""The user's own application: servers and users as an experiment file describes them."""
