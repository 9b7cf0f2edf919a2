"""Changes an existing index: deliveries, migration, generations, enrichment, priors."""
