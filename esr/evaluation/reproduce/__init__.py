"""The papers' experiments on the TREC Novelty data, from the raw files to what survives of their results."""
