"""The arguments of evidence: a claim, and how the texts about it are listed."""

from __future__ import annotations

from esr.arguments.argument import ASSISTANT, COMMAND, Argument
from esr.arguments.types import Choice, Text, WholeNumber
from esr.evidence.choices import EVIDENCE, EVIDENCE_ORDERS

_ORDERS = "; ".join(f"{name}: {meaning}" for name, meaning in EVIDENCE_ORDERS.items())

EVIDENCE_ROWS: tuple[Argument, ...] = (
    Argument(
        "q",
        "the claim, as a sentence",
        Text("query_chars", 1),
        "evidence",
        is_required=True,
        spelled={ASSISTANT: "claim", COMMAND: "claim"},
        is_positional=True,
        foreign_names=("claim", "query", "text", "statement"),
    ),
    Argument("k", "how many texts of each group to return", WholeNumber(high=50, usual=EVIDENCE), "evidence"),
    Argument(
        "order",
        f"the order of the texts of a group; {_ORDERS}",
        Choice(labels=EVIDENCE_ORDERS, usual="best"),
        "evidence",
    ),
    Argument(
        "least",
        "how many sentences a source has taken from another at least",
        WholeNumber(high=999_999, usual=1),
        "reuse",
    ),
)
"""A claim, and how the texts about it are listed."""
