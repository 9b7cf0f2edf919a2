"""Answers to a request, as data: pages draw them, the API sends them."""
