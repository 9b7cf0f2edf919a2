"""Topics in, runs out: the files that retrieval experiments exchange."""
