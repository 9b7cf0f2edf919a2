"""Writes documents into an index folder: segments first, then one commit that shows them all."""
