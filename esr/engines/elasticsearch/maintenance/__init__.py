"""Changes an index that is there: deliveries, migration, generations, enrichment, priors."""
