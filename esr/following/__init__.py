"""Following the news: what was said when, what is new, what is similar, and how to keep it."""
