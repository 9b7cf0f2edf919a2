"""Saved searches that are run repeatedly, their state, and the feeds that report their news."""
