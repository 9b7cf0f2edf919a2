"""What is computed for a request, as data: pages show it, the API sends it."""
