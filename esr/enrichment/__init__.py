"""Computes what is known about a sentence before any query: features, named entities and a parse."""
