"""Finds the sentences that documents of an index share, and stores the groups of copies.

All sentences are compared by their terms. Sentences of known groups keep them, so a run after a delivery only
compares the new sentences with all others. The groups are stored in one step, or not at all.
"""

from __future__ import annotations

import time

from msgspec import Struct

from esr.enrichment.copy_finder import COPIES_VERSION, UNKNOWN, count_groups, find_copies
from esr.enrichment.recipe import Recipe
from esr.index.contract import Index
from esr.text.sentence_enrichment import REUSE

REUSE_RECIPE = Recipe((REUSE,), {REUSE: str(COPIES_VERSION)})
"""What the groups are made with."""


class ReuseReport(Struct):
    """The outcome of a run: new sentences, and all sentences that are copies with the number of groups."""

    new: int = 0
    copies: int = 0
    groups: int = 0
    seconds: float = 0.0


def run_reuse(index: Index) -> ReuseReport:
    """Compare the sentences without a known group with all sentences of the index, and store the groups."""
    started = time.perf_counter()
    report = ReuseReport()
    with index.enrichment() as enrichment:
        sentences = enrichment.read_terms(REUSE_RECIPE)
        report.new = int((sentences.group == UNKNOWN).sum())
        groups = find_copies(sentences) if report.new else sentences.group
        enrichment.store_groups(REUSE_RECIPE, groups)
        report.copies, report.groups = count_groups(groups)
    report.seconds = time.perf_counter() - started
    return report
