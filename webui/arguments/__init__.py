"""The query arguments: addresses read and written, and the form that holds them."""
