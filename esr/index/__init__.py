"""The two engines behind one interface: embedded (numpy on disk) and Elasticsearch."""
