"""Computes query-independent data of sentences: features, named entities, parses and vectors."""
