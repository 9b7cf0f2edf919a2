"""What is known of a sentence before any query: features, named entities, a parse."""
