"""The commands of corpus linguistics."""
