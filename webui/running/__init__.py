"""Running the server: settings, indexes, limits, errors, health, metrics, logs."""
