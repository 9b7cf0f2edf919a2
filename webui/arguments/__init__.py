"""Query arguments: parsing and building addresses, and the search form."""
