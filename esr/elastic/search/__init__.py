"""Searches of an index: plans become queries, and upper bounds save scoring most candidates."""
