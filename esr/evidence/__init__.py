"""Evidence: whether something was said, who said it first, and what else is there."""

from esr.plugin import Plugin

plugin: Plugin = Plugin(
    name="evidence",
    commands={
        "check": "esr.evidence.commands.check:check",
        "evidence": "esr.evidence.commands.evidence:evidence",
        "reuse": "esr.evidence.commands.reuse:reuse",
    },
)

EVIDENCE = 10
"""Default maximum of texts in each group of the evidence for a claim."""
EVIDENCE_ORDERS = {
    "best": "those that share most with the claim first",
    "oldest": "in the order in which they appeared",
}
"""The orders of the texts of a group."""
