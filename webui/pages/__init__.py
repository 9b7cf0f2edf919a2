"""The HTML pages: their routes, and data used only by pages."""
