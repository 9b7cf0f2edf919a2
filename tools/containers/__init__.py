"""A trial of the containers: `python -m tools.containers`, or `make containers`."""
