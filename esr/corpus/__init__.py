"""Corpus linguistics: words in context, collocations, frequencies, key words, names and quotations."""
