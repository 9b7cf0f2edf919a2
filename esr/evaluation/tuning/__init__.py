"""Tuning of a ranking's parameters: on judgements, or on the collection alone."""
