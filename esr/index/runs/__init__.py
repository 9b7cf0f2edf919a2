"""Runs over all documents of an index that compute something and store it in the index."""
