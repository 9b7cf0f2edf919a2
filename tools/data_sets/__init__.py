"""Public news data sets: what esr loads of their files, and what plain readings find: see `__main__.py`."""
