"""Who may search: the grants of a server, their rates, and the documents that they are limited to."""
