"""The commands of alerts."""
