"""A simulated world: random histories of an index on a file system that loses what POSIX lets it lose."""
