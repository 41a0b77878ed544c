"""The run folder: the tables' schemas, reading and writing them, and the manifest."""
