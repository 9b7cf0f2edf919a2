"""How long readers of an index cache what changes in place: by enrichment, or where loads replace it."""

MAX_AGE = 10.0
"""Seconds."""
