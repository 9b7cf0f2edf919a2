"""Dependency parses, as they are stored and compared."""
