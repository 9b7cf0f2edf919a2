"""The Python API: indexes, answers and hits, as `esr` offers them."""
