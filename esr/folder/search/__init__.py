"""How an index folder is searched."""
