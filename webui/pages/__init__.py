"""The HTML pages and the files to download beside them."""
