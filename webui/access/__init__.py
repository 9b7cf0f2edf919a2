"""Who may search: keys and people in a file, logins, and what each of them sees of an index."""
