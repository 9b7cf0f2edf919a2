"""The containers, started for real: `python -m tools.containers`, or `make containers`."""
