"""Topics in, runs out: the files of batches of queries."""
