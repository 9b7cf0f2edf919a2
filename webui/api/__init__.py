"""The API under /api/v1: operations as data, their routes and their descriptions."""
