"""Finding a ranking's parameters: from judgements, or from the collection alone."""
