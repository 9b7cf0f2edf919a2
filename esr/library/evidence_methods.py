"""The methods of an index about claims, drafts and who printed what first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from esr.evidence.choices import EVIDENCE
from esr.library.checks import check_arguments
from esr.library.options import SearchOptions, chooses_ranking, read_search_options
from esr.query import in_language, literal
from esr.ranking.prepared_query import check_k

if TYPE_CHECKING:
    from esr.evidence.claim_evidence import ClaimEvidence
    from esr.evidence.draft_check import DraftCheck
    from esr.evidence.quotation_check import QuotationCheck
    from esr.evidence.reuse import Reuse
    from esr.ranking.searcher import Searcher


@check_arguments
class EvidenceMethods:
    """The part of `esr.Index` that checks texts, and finds evidence and reuse."""

    _searcher: Searcher

    def check(self, text: str) -> QuotationCheck:
        """Check the quotations of a text: whether the index has them exactly or nearly, and where first.

        A text without quotation marks is one quotation. Case, punctuation and kinds of marks do not count; an
        ellipsis or [brackets] stand for other words. Raises UsageError for a text without words.
        """
        from esr.evidence.quotation_check import check_text

        return check_text(self._searcher, text)

    def evidence(
        self,
        claim: str,
        k: int = EVIDENCE,
        *,
        order: str = "best",
        cross_encoder: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> ClaimEvidence:
        """Find the evidence for a claim: at most k texts each that say so, say otherwise, or are near it.

        Copies are folded into the text that appeared first. `order` is "best" or "oldest". `cross_encoder`
        is a model that adds its opinion: `hf:OWNER/NAME`, an address or a folder. Without options of a
        ranking, it is that of a search. Raises UsageError for a claim without words.
        """
        from esr.evidence.claim_evidence import find_evidence, open_opinion

        settings = read_search_options(options, "k", "order", "cross_encoder")
        return find_evidence(
            self._searcher,
            in_language(literal(claim), settings.language),
            settings.filters,
            ranking=settings.ranking if chooses_ranking(options) else None,
            k=check_k(k),
            order=order,
            opinion=open_opinion(cross_encoder),
        )

    def check_draft(self, text: str) -> DraftCheck:
        """Check a draft: its quotations, the best evidence for each sentence, its numbers and its names.

        Raises UsageError for a text that is empty or too long.
        """
        from esr.evidence.draft_check import check_draft

        return check_draft(self._searcher, text)

    def reuse(self, *, least: int = 1, **options: Unpack[SearchOptions]) -> Reuse:
        """Find who takes from whom: pairs of sources with at least `least` sentences taken.

        Only filters are taken of the options; they are for the taken sentences. `Reuse.to_graphml` writes a
        network. Raises UsageError before `enrich("reuse")`.
        """
        from esr.evidence.reuse import find_reuse

        filters = read_search_options(options, "least").filters
        return find_reuse(self._searcher, filters, least=least)
