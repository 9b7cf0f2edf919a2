"""Why a sentence is in the list, in words: the arithmetic is behind the link beside them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from esr.analysis import Analyzer
from esr.engines.index import Hit, SentenceRecord
from esr.ranking.answers import require_record
from webui.pages.evidence_bars import WIDTH, EvidenceBars

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_TIMES = {1: "once", 2: "twice"}
_ALL = {1: "the word itself", 2: "both words"}

Reasons = Mapping[str, str]
"""By sentence id."""


def describe_hits(hits: Sequence[Hit], terms: Collection[str], analyzer: Analyzer) -> Reasons:
    """The reason for each hit. `terms` are those of the query's own words."""
    return {hit.sentence_id: describe_match(require_record(hit), terms, analyzer) for hit in hits if terms}


def describe_match(record: SentenceRecord, terms: Collection[str], analyzer: Analyzer) -> str:
    """As in "all four words; twice beside it; in the headline"."""
    own = len(set(terms).intersection(analyzer.terms(record.text)))
    around = [term for text in (record.previous, record.next) if text for term in analyzer.terms(text)]
    beside = sum(term in terms for term in around)
    parts = [_count_words(own, len(set(terms)))]
    parts += [f"{_TIMES.get(beside) or f'{_spell(beside)} times'} beside it"] if beside else []
    parts += ["in the headline"] if set(terms).intersection(analyzer.terms(record.title or "")) else []
    return "; ".join(parts)


def share_of_best(bars: EvidenceBars, sentence_id: str) -> int | None:
    """The evidence for a sentence in percent of that for the first; None where there is no bar."""
    segments = bars.get(sentence_id)
    return round(100 * sum(segment.width for segment in segments) / WIDTH) if segments else None


def _count_words(own: int, total: int) -> str:
    if own == total:
        return _ALL.get(total) or f"all {_spell(total)} words"
    return f"{_spell(own)} of {_spell(total)} words" if own else "none of the words itself"


def _spell(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else f"{number:,}"
