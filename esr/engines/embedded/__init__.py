"""The embedded engine. An index is a folder: `store` is what lies in it, `load` writes, `search` reads."""
