"""The papers' experiments on the TREC Novelty data, from the raw files to a check of their claims."""
