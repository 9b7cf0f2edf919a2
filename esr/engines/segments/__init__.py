"""Index folders: what lies on disk, how it is written and how it is read. Knows no query and no ranking."""
