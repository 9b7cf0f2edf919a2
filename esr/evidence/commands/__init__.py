"""The commands of evidence."""
