"""The hot loops of searching, compiled by numba. Callers use the functions of `kernel.search`."""
