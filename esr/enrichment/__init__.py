"""What is known about a sentence before any query: features, named entities and a dependency parse."""
