"""The interface common to both engines, the index folder and Elasticsearch, and the types that it uses."""
