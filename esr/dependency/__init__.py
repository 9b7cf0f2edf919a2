"""Term dependence: ranking by the positions of the query's words in a sentence's dependency tree.

    blobs ─ decode ─▶ Forest ─ occurrences ─▶ clique_evidence ─▶ dependence_signals ─▶ scores

Everything that depends only on the parses is computed once per query, so trying other parameters is cheap.
"""
