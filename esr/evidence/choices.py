"""What the arguments of questions for evidence may be, and their defaults."""

EVIDENCE = 10
"""Default maximum of texts in each group of the evidence for a claim."""
EVIDENCE_ORDERS = {
    "best": "those that share most with the claim first",
    "oldest": "in the order in which they appeared",
}
"""The orders of the texts of a group."""
