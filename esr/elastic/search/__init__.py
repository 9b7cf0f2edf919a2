"""Searches an index: plans become queries, and a bound spares most candidates their score."""
