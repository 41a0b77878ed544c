"""Words and running text of our own making, for every workload that writes and searches."""
