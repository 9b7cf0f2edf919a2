"""The parts of an analyzer, in the order in which they work: characters, tokens, words, terms."""
