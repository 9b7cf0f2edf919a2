"""The Python API: indexes, answers and hits, exported by `esr`."""
