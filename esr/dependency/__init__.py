"""Term dependence: rankings that look at where the query's words stand in a sentence's dependency parse.

    blobs ─ codec ─▶ Forest ─ occurrences ─▶ clique_evidence ─▶ tdsr, mrf ─▶ scores

What depends on the parses alone is computed once a query; trying other parameters is then cheap.
"""
