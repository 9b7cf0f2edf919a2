"""How documents get into indices, and aliases to them."""
