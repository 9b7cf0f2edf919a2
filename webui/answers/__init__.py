"""Answers to requests as data, which the pages show and the API sends."""
