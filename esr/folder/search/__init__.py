"""Searches of an index folder."""
