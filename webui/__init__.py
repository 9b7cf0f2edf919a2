"""The search pages and the API: a Flask application over a `Searcher`, and the server that runs it."""
