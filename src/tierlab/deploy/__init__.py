"""A workload's servers brought up and down in an environment, where a plan wants them."""
