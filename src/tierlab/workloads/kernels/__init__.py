"""Parallel programs: jobs of five kernels, each in the role of programs of PARSEC and SPLASH-2."""
