"""Running the server: settings, served indexes, limits, errors, health, metrics, logs."""
