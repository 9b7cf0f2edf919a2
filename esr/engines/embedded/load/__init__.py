"""How documents get into an index folder."""
