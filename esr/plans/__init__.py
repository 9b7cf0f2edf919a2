"""Scoring plans: a model's query as data that both engines execute."""
