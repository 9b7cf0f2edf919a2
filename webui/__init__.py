"""The search page: a Flask application over a `Searcher`, and the server that runs it."""
