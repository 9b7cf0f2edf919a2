"""Scoring plans: what a model says and both engines execute, as data."""
