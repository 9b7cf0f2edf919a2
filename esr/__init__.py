"""Search for sentences of news, embedded or in Elasticsearch."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing.TYPE_CHECKING` without the slow import of `typing`

if TYPE_CHECKING:
    from esr.corpus.collocations import Collocation, Collocations, Contrasted, ContrastedCollocations
    from esr.corpus.concordance import Concordance, Line
    from esr.corpus.frequencies import Frequencies, Frequency, KeyWord, KeyWords
    from esr.corpus.names_and_quotes import (
        Companion,
        ListedName,
        NameNetwork,
        NamePage,
        Quotation,
        Quotations,
    )
    from esr.corpus.statements import Piece, Statement, Statements, Wording
    from esr.dossiers.account import AccountDossiers, open_dossiers
    from esr.errors import (
        EngineUnreachable,
        EsrError,
        IndexClosed,
        IndexMissing,
        IndexUnusable,
        InputError,
        NotFound,
        UsageError,
    )
    from esr.evidence.claim_evidence import ClaimEvidence, Copy, EvidenceSentence, Point, PointValue
    from esr.evidence.contrast import Contrast, DifferingPart
    from esr.evidence.draft_check import CheckedName, CheckedNumber, CheckedSentence, DraftCheck, EvidenceFor
    from esr.evidence.quotation_check import Appearance, CheckedQuotation, QuotationCheck
    from esr.following.holdings import Holdings, SourceRow
    from esr.following.timeline import Peak, Series, Timeline
    from esr.index.generations import Generation
    from esr.index.runs.enrichment_run import EnrichmentReport
    from esr.index.writer import DeliveryReport, LoadReport
    from esr.library.hits import Hit, Hits
    from esr.library.opening import AsyncIndex, create, load, open, open_async, parse_query
    from esr.library.options import (
        AppendOptions,
        EnrichOptions,
        LoadOptions,
        LoginOptions,
        ReadOptions,
        SearchOptions,
        WriteOptions,
    )
    from esr.library.public_index import Index
    from esr.ranking.explanation.explanation import Explanation
    from esr.text.document import Document, Quote, Sentence

__all__ = [
    "AccountDossiers",
    "Appearance",
    "AppendOptions",
    "AsyncIndex",
    "CheckedName",
    "CheckedNumber",
    "CheckedQuotation",
    "CheckedSentence",
    "ClaimEvidence",
    "Collocation",
    "Collocations",
    "Companion",
    "Concordance",
    "Contrast",
    "Contrasted",
    "ContrastedCollocations",
    "Copy",
    "DeliveryReport",
    "DifferingPart",
    "Document",
    "DraftCheck",
    "EngineUnreachable",
    "EnrichOptions",
    "EnrichmentReport",
    "EsrError",
    "EvidenceFor",
    "EvidenceSentence",
    "Explanation",
    "Frequencies",
    "Frequency",
    "Generation",
    "Hit",
    "Hits",
    "Holdings",
    "Index",
    "IndexClosed",
    "IndexMissing",
    "IndexUnusable",
    "InputError",
    "KeyWord",
    "KeyWords",
    "Line",
    "ListedName",
    "LoadOptions",
    "LoadReport",
    "LoginOptions",
    "NameNetwork",
    "NamePage",
    "NotFound",
    "Peak",
    "Piece",
    "Point",
    "PointValue",
    "Quotation",
    "QuotationCheck",
    "Quotations",
    "Quote",
    "ReadOptions",
    "SearchOptions",
    "Sentence",
    "Series",
    "SourceRow",
    "Statement",
    "Statements",
    "Timeline",
    "UsageError",
    "Wording",
    "WriteOptions",
    "__version__",
    "create",
    "load",
    "open",
    "open_async",
    "open_dossiers",
    "parse_query",
]
__version__ = "0.3.0"
_MODULES = {
    "esr.errors": "EngineUnreachable EsrError IndexClosed IndexMissing IndexUnusable InputError NotFound "
    "UsageError",
    "esr.corpus.collocations": "Collocation Collocations Contrasted ContrastedCollocations",
    "esr.corpus.concordance": "Concordance Line",
    "esr.corpus.names_and_quotes": "Quotation Quotations Companion ListedName NameNetwork NamePage",
    "esr.corpus.frequencies": "Frequencies Frequency KeyWord KeyWords",
    "esr.corpus.statements": "Piece Statement Statements Wording",
    "esr.dossiers.account": "AccountDossiers open_dossiers",
    "esr.evidence.claim_evidence": "ClaimEvidence Copy EvidenceSentence Point PointValue",
    "esr.evidence.contrast": "Contrast DifferingPart",
    "esr.evidence.draft_check": "CheckedName CheckedNumber CheckedSentence DraftCheck EvidenceFor",
    "esr.evidence.quotation_check": "Appearance CheckedQuotation QuotationCheck",
    "esr.following.holdings": "Holdings SourceRow",
    "esr.following.timeline": "Peak Series Timeline",
    "esr.index.runs.enrichment_run": "EnrichmentReport",
    "esr.index.generations": "Generation",
    "esr.index.writer": "DeliveryReport LoadReport",
    "esr.library.hits": "Hit Hits",
    "esr.library.public_index": "Index",
    "esr.library.opening": "AsyncIndex create load open open_async parse_query",
    "esr.library.options": "AppendOptions EnrichOptions LoadOptions LoginOptions "
    "ReadOptions SearchOptions WriteOptions",
    "esr.ranking.explanation.explanation": "Explanation",
    "esr.text.document": "Document Quote Sentence",
}
"""The public names by module. A module is imported when one of its names is first used."""


if not TYPE_CHECKING:

    def __getattr__(name):
        from importlib import import_module  # at the top, it would be most of what `import esr` costs

        for module, names in _MODULES.items():
            if name in names.split():
                value = globals()[name] = getattr(import_module(module), name)
                return value
        raise AttributeError(f"module 'esr' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
