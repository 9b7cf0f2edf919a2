"""Reads a commit of an index folder: its snapshot, its documents, postings and term bounds."""
