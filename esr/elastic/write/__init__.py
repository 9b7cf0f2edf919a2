"""Writes to Elasticsearch: loads, deliveries, migrations, enrichment and stored priors."""
