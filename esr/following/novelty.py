"""What is new: sentences in the order of their dates, without those that repeat what was said before.

Source: docs/formulas.md, section G.

How much of a sentence earlier ones contain. It decides what is new and what is folded.

Source: docs/formulas.md, G.1. Sentences are sets of terms here; nothing is known of an index.

The newest sentences that have all words of a query, each with its score for it.

More like this: sentences that say the same as one, or go on from it.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from esr.errors import UsageError
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS, Filters
from esr.index.hits import Hit
from esr.models.idf import rarity
from esr.query.interpretation import Interpretation
from esr.query.parser import literal
from esr.ranking.answers import require_record
from esr.ranking.prepared_query import Answer, PreparedQuery, check_k, elapsed_ms, known_scores
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

Terms = frozenset[str]
Weigh = Callable[[Collection[str]], Mapping[str, float]]
"""From terms to their weights, all greater than 0."""
DEFAULT_THRESHOLD = 0.8
MIN_THRESHOLD = 0.5
"""Less is no repeat: half of the terms must be shared in any case."""
FEW_TERMS = 8
"""A sentence with fewer terms must contain the earlier one as well: few terms are shared by chance."""


class Overlap(Struct, frozen=True):
    """The earlier sentence that has most of a sentence, by its place in the list, and the share it has."""

    place: int
    share: float


def check_threshold(threshold: float) -> float:
    """The threshold. Raises UsageError for one that is out of range."""
    if not MIN_THRESHOLD <= threshold <= 1.0:
        raise UsageError(f"the overlap must be from {MIN_THRESHOLD:g} to 1, not {threshold:g}")
    return threshold


def parse_threshold(text: str) -> float:
    """The threshold that a text gives. Raises UsageError."""
    try:
        return check_threshold(float(text))
    except ValueError:
        raise UsageError(f"the overlap must be a number from {MIN_THRESHOLD:g} to 1, not {text!r}") from None


def contain(sentence: Terms, earlier: Terms, weights: Mapping[str, float]) -> float:
    """The share of the sentence that the earlier one has; for few terms, the lesser of both shares."""
    share = _share(sentence, earlier, weights)
    return share if len(sentence) >= FEW_TERMS else min(share, _share(earlier, sentence, weights))


def find_overlaps(sentences: Sequence[Terms], weigh: Weigh) -> list[Overlap | None]:
    """For each sentence, the earlier one that contains most of it.

    Of equal ones, it is one with the same terms, else the first. None where no
    earlier one has half of its terms. `weigh` is called at most once.
    """
    pairs = list(_share_half(sentences))
    needed = {term for pair in pairs for place in pair for term in sentences[place]}
    weights = weigh(sorted(needed)) if needed else {}
    best: list[Overlap | None] = [None] * len(sentences)
    for place, earlier in pairs:
        share = contain(sentences[place], sentences[earlier], weights)
        known = best[place]
        if known is None or (-share, earlier) < (-known.share, known.place):
            best[place] = Overlap(earlier, share)
    return best


def group_repeats(overlaps: Sequence[Overlap | None], threshold: float) -> list[list[int]]:
    """The places of the sentences in groups: a new one with those that repeat it, or a repeat of it.

    Groups are in the order of their first sentences. A sentence that follows changes no group before it,
    but may join one.
    """
    groups: list[list[int]] = []
    group_of: list[int] = []
    for place, overlap in enumerate(overlaps):
        if overlap is not None and overlap.share >= threshold:
            group_of.append(group_of[overlap.place])
            groups[group_of[place]].append(place)
        else:
            group_of.append(len(groups))
            groups.append([place])
    return groups


def _share(sentence: Terms, earlier: Terms, weights: Mapping[str, float]) -> float:
    """Sums are exact, so that they do not depend on the order of the terms."""
    shared = math.fsum(weights[term] for term in sentence & earlier)
    return shared / math.fsum(weights[term] for term in sentence)


def _share_half(sentences: Sequence[Terms]) -> Iterator[tuple[int, int]]:
    """The pairs of a sentence and an earlier one that has at least half of its terms.

    Of sentences with the same terms, only the first counts as an earlier one. A sentence that has half of n
    terms has one of any n // 2 + 1 of them: those that the fewest have are looked up.
    """
    with_term: dict[str, list[int]] = {}
    first: dict[Terms, int] = {}
    for place, terms in enumerate(sentences):
        if not terms:
            continue
        if terms in first:
            yield place, first[terms]
            continue
        rarest = sorted(terms, key=lambda term: len(with_term.get(term, ())))[: len(terms) // 2 + 1]
        candidates = {earlier for term in rarest for earlier in with_term.get(term, ())}
        for earlier in sorted(candidates):
            needed = len(terms) if len(terms) >= FEW_TERMS else max(len(terms), len(sentences[earlier]))
            if 2 * len(terms & sentences[earlier]) >= needed:
                yield place, earlier
        first[terms] = place
        for term in terms:
            with_term.setdefault(term, []).append(place)


def find_newest(
    prepared: PreparedQuery, k: int = 10, filters: Filters = NO_FILTERS, *, records: bool = True
) -> Answer:
    """The k newest of all that match; sentences without a date are last. `total` counts all that match.

    Equal dates are in collection order.
    """
    k = check_k(k)
    started = time.perf_counter()
    result = prepared.index.by_date(prepared.all_words, k, filters, records=records)
    hits = add_scores(prepared, result.hits)
    took = prepared.took_ms + elapsed_ms(started)
    return Answer(hits, result.total, took, prepared.unseen, result.incomplete)


def add_scores(prepared: PreparedQuery, hits: Sequence[Hit]) -> list[Hit]:
    """The same hits with their scores for the query. A sentence that the ranking has no score for has 0."""
    ids, ordinals = [hit.sentence_id for hit in hits], [hit.ordinal for hit in hits]
    scores = known_scores(prepared, ids, ordinals)
    return [hit._replace(score=score) for hit, score in zip(hits, scores, strict=True)]


MAX_READ = 10_000
"""Sentences that are read for one answer, the oldest first. More would take too long."""
MAX_BEFORE = 2_000
"""Sentences before the first day asked for that count as said before, the last ones."""
_FIRST_READ, _GROWTH = 200, 4
_HITS_PER_SENTENCE, _MAX_MORE = 3, 2_000
"""Hits that are fetched for each sentence of a folded list, and at most how many more than sentences."""


class NovelAnswer(Struct, frozen=True):
    """The new sentences, and for each, by its id, the later ones that repeat it, as far as they were read.

    `incomplete` of the answer says so where fewer than k are new among those that may be read.
    """

    answer: Answer
    repeats: Mapping[str, Sequence[Hit]]


def group_hits(hits: Sequence[Hit], index: Index, threshold: float) -> list[list[Hit]]:
    """The hits in groups: one that says something new with those after it that repeat the group.

    More hits after these change none of the first sentences. Raises UsageError for a bad threshold.
    """
    check_threshold(threshold)
    return _group_by_terms(hits, _analyze(hits, index), index, threshold)


def fold_answer(answer: Answer, index: Index, k: int, threshold: float = DEFAULT_THRESHOLD) -> NovelAnswer:
    """The first k hits that repeat none before them, and what repeats each of them.

    The answer needs the records of `hits_to_fold` hits. Raises UsageError for a bad threshold.
    """
    groups = group_hits(answer.hits, index, threshold)[:k]
    repeats = {first.sentence_id: rest for first, *rest in groups}
    return NovelAnswer(replace(answer, hits=[group[0] for group in groups]), repeats)


def hits_to_fold(k: int) -> int:
    """How many hits to fetch, so that repeats do not leave a folded list of k sentences short."""
    return min(k * _HITS_PER_SENTENCE, k + _MAX_MORE)


def _analyze(hits: Sequence[Hit], index: Index) -> list[Terms]:
    return [frozenset(index.analyzer.terms(require_record(hit).text)) for hit in hits]


def _group_by_terms(
    hits: Sequence[Hit], terms: Sequence[Terms], index: Index, threshold: float
) -> list[list[Hit]]:
    groups = group_repeats(find_overlaps(terms, lambda needed: weigh_by_rarity(index, needed)), threshold)
    return [[hits[place] for place in group] for group in groups]


def weigh_by_rarity(index: Index, terms: Collection[str]) -> Mapping[str, float]:
    """log( (N + 1) / (0.5 + sf(t)) ) of each term (docs/formulas.md, G.1)."""
    statistics = index.statistics(list(terms))
    size = statistics.collection.sentences
    sf = {term: min(of_term.sf, size) for term, of_term in statistics.terms.items()}
    return {term: rarity(size, count) for term, count in sf.items()}


def find_novel(
    prepared: PreparedQuery,
    k: int = 10,
    filters: Filters = NO_FILTERS,
    *,
    threshold: float = DEFAULT_THRESHOLD,
) -> NovelAnswer:
    """The k oldest sentences that match and say something new. Those without a date are last.

    A sentence is new if no earlier one that matches contains the share `threshold` of it. Where the filters
    have a first day, what was said before that day is not new either. `total` counts all that match.
    """
    k = check_k(k)
    check_threshold(threshold)
    started = time.perf_counter()
    before, total_before = _read_before(prepared, filters)
    known = {hit.sentence_id for hit in before}
    count = max(_FIRST_READ, _GROWTH * k)
    terms: list[Terms] = []
    while True:
        count = min(count, MAX_READ)
        result = prepared.index.by_date(prepared.all_words, count, filters, oldest_first=True)
        hits = [*before, *result.hits]
        terms += _analyze(hits[len(terms) :], prepared.index)  # more are read after those known
        groups = _group_by_terms(hits, terms, prepared.index, threshold)
        new = [group for group in groups if group[0].sentence_id not in known]
        has_all = len(result.hits) >= result.total or len(result.hits) < count
        if len(new) >= k or has_all or count == MAX_READ:
            break
        count *= _GROWTH
    incomplete = result.incomplete
    if len(new) < k and not has_all:
        incomplete = incomplete or _say_bound(f"oldest {MAX_READ:,} of {result.total:,} sentences")
    if len(before) < total_before:
        bound = f"last {MAX_BEFORE:,} of {total_before:,} sentences before the first day"
        incomplete = incomplete or _say_bound(bound)
    scored = add_scores(prepared, [group[0] for group in new[:k]])
    repeats = {group[0].sentence_id: group[1:] for group in new[:k]}
    took = prepared.took_ms + elapsed_ms(started)
    return NovelAnswer(Answer(scored, result.total, took, prepared.unseen, incomplete), repeats)


def _read_before(prepared: PreparedQuery, filters: Filters) -> tuple[Sequence[Hit], int]:
    """The last sentences before the first day, the oldest first, and how many there are."""
    if filters.date_from is None:
        return [], 0
    earlier = replace(filters, date_from=None, date_to=filters.date_from - 1)
    result = prepared.index.by_date(prepared.all_words, MAX_BEFORE, earlier)
    return list(result.hits)[::-1], result.total


def _say_bound(what: str) -> str:
    return f"only the {what} were compared: limit the dates, or add words to the query"


TERMS = 8
"""The terms of the sentence that are searched for: those that say most, c(t,s) log(N / sf(t)) each."""


def prepare_similar(
    searcher: Searcher, sentence_id: str, ranking: Ranking | None = None
) -> tuple[PreparedQuery, str]:
    """The query that the sentence makes, and the id of its document.

    Raises UsageError for an unknown sentence, or one without words.
    """
    snapshot = searcher.snapshot()
    (record,) = snapshot.index.sentences([sentence_id])
    counts = Counter(snapshot.index.analyzer.terms(record.text))
    statistics = snapshot.index.statistics(list(counts))
    total = statistics.collection.sentences

    def weight(term: str) -> float:
        return counts[term] * math.log(total / max(statistics.terms[term].sf, 1))

    best = sorted(counts, key=lambda term: (-weight(term), term))[:TERMS]
    if not best:
        raise UsageError(f"sentence {sentence_id!r} has no words to compare it by")
    chosen = {term: count for term, count in counts.items() if term in best}
    interpretation = Interpretation(literal(record.text), chosen, tuple(chosen), None, (), False)
    return snapshot.prepare_interpretation(interpretation, ranking or Ranking()), record.document_id


def find_similar(
    searcher: Searcher,
    sentence_id: str,
    k: int = 10,
    *,
    ranking: Ranking | None = None,
    filters: Filters = NO_FILTERS,
    own_document: bool = False,
) -> Answer:
    """The best k sentences for what a sentence says, without itself.

    Those of its own document are left out unless `own_document`. `total` counts all candidates.
    """
    prepared, document_id = prepare_similar(searcher, sentence_id, ranking)
    return search_similar(prepared, sentence_id, None if own_document else document_id, k, filters)


def search_similar(
    prepared: PreparedQuery, sentence_id: str, left_out: str | None, k: int, filters: Filters = NO_FILTERS
) -> Answer:
    """The best k without the sentence and the document that is left out."""
    fetched = k + 8 if left_out is not None else k + 1
    while True:
        answer = prepared.search(fetched, filters)
        hits = [
            hit
            for hit in answer.hits
            if hit.sentence_id != sentence_id
            and hit.record is not None
            and hit.record.document_id != left_out
        ]
        if len(hits) >= k or len(answer.hits) < fetched:
            return replace(answer, hits=hits[:k])
        fetched *= 4
