"""What linguists ask of a collection: words in their context, and the words that stand beside them."""
