"""The HTML pages: their routes, and what only they show."""
