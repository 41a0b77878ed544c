"""What a notebook meets: a run and an experiment, opened."""
