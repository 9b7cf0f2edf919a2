"""The arguments of searches, each defined once for all doors."""
