"""Access control: keys and people in a file, logins, and the visible part of an index."""
