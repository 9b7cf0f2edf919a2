"""How an index is searched: plans become queries."""
