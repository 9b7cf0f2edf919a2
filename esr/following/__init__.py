"""Following the news: what was said when, what is new, where else it is said, and how to take it home."""
