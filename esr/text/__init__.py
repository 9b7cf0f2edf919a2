"""Documents and their sentences, and the analysis of text to terms."""
