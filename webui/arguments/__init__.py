"""Query arguments: addresses read and written, the form and its controls."""
