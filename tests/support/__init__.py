"""Helpers of the tests. `tests.support.node` gives a real Elasticsearch node.

Nothing is imported here, so that `python -m tests.support.node` loads that module once.
"""
