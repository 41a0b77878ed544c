"""Parts that the users of several workloads are described with."""
