"""The HTML pages: their routes, and the data that only pages show."""
