"""The kernel: what searches compute most, compiled by numba. `compiled` has what is called from outside."""
