"""Answers to requests as data, for the pages and the API."""
