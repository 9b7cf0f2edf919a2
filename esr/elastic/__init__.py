"""The Elasticsearch engine: plans become scripted queries, loads become indices behind two aliases."""
