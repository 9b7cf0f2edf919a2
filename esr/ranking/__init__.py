"""From a query's text to ranked sentences: analyse, plan, search, explain."""
