"""Term dependence: ranking by where the query's words are in a sentence's dependency tree.

    blobs ─ decode ─▶ Forest ─ occurrences ─▶ clique_evidence ─▶ dependence_signals ─▶ scores

Whatever depends on the parses alone is computed once per query, so trying other parameters is cheap.
"""
