"""The embedded engine: the index as all of esr sees it, its searches, and what changes it later."""
