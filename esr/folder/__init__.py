"""The embedded engine: opens, searches and changes an index stored in a folder."""
