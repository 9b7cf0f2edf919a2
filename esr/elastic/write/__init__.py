"""Loads documents: from a spool to new indices, which are verified and then served."""
