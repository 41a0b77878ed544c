"""From a run's tables to results: one question a file, pure functions, no process, no socket."""
