"""The inner loops of searches, compiled by numba. Callers use the functions of `kernel.search`."""
