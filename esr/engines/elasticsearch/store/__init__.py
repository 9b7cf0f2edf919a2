"""What the indices contain: loads and generations, documents, statistics, and bounds of scores."""
