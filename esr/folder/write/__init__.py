"""Loads into an index folder: segments are written first, then one commit makes all of them visible."""
