"""Term dependence: rankings by the positions of the query's words in a sentence's dependency parse.

    blobs ─ codec ─▶ Forest ─ occurrences ─▶ clique_evidence ─▶ tdsr, mrf ─▶ scores

What depends on the parses alone is computed once per query; trying other parameters is then cheap.
"""
