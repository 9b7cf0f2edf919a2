"""Novelty: new sentences, repeats of earlier ones, the newest sentences, and sentences similar to one.

A sentence is a repeat if an earlier one contains a large enough share of its terms, weighted by rarity
(docs/formulas.md, section G). `find_novel` and the folding of result lists use the same overlap.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import compress

from msgspec import Struct
from msgspec.structs import replace

from esr.errors import UsageError
from esr.index.contract import Index
from esr.index.filters import NO_FILTERS, Filters
from esr.index.hits import Hit
from esr.index.questions import Hits, Records, TermHolders
from esr.models.tfidf_models import rarity
from esr.query.interpretation import Interpretation
from esr.query.parser import literal
from esr.ranking.answers import (
    MOST_OF_DOCUMENT,
    Passage,
    build_passages,
    explain_wordless,
    find_wordless,
    require_record,
    select_answering,
    single,
)
from esr.ranking.prepared_query import Answer, PreparedQuery, check_k, elapsed_ms, known_scores
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

Terms = frozenset[str]
Weigh = Callable[[Collection[str]], Mapping[str, float]]
"""Maps terms to their weights, all above 0."""
DEFAULT_THRESHOLD = 0.8
MIN_THRESHOLD = 0.5
"""The minimum threshold: repeats always share at least half of the terms."""
FEW_TERMS = 5
"""A repeat with fewer terms must also contain the earlier sentence: few terms may be shared by chance."""
FEW_TERMS_IN_LISTS = 8
"""The same for folded lists, so that a short sentence is not folded into a long one on the same event."""


class Overlap(Struct, frozen=True):
    """The earlier sentence that contains most of a sentence: its position in the list, and the share."""

    place: int
    share: float


def check_threshold(threshold: float) -> float:
    """Return the threshold. Raises UsageError if it is out of range."""
    if not MIN_THRESHOLD <= threshold <= 1.0:
        raise UsageError(f"the overlap must be from {MIN_THRESHOLD:g} to 1, not {threshold:g}")
    return threshold


def parse_threshold(text: str) -> float:
    """Read a threshold. Raises UsageError."""
    try:
        return check_threshold(float(text))
    except ValueError:
        raise UsageError(f"the overlap must be a number from {MIN_THRESHOLD:g} to 1, not {text!r}") from None


def contain(
    sentence: Terms, earlier: Terms, weights: Mapping[str, float], few_terms: int = FEW_TERMS
) -> float:
    """The share of the sentence in the earlier one; below `few_terms`, the minimum of both shares."""
    share = _share(sentence, earlier, weights)
    return share if len(sentence) >= few_terms else min(share, _share(earlier, sentence, weights))


def find_overlaps(
    sentences: Sequence[Terms], weigh: Weigh, few_terms: int = FEW_TERMS
) -> list[Overlap | None]:
    """For each sentence, find the earlier one that contains most of it.

    Ties go to an earlier sentence with the same terms, then to the first. None if no earlier sentence has
    half of the terms. `weigh` is called at most once.
    """
    pairs = list(_share_half(sentences, few_terms))
    needed = {term for pair in pairs for place in pair for term in sentences[place]}
    weights = weigh(sorted(needed)) if needed else {}
    best: list[Overlap | None] = [None] * len(sentences)
    for place, earlier in pairs:
        share = contain(sentences[place], sentences[earlier], weights, few_terms)
        known = best[place]
        if known is None or (-share, earlier) < (-known.share, known.place):
            best[place] = Overlap(earlier, share)
    return best


def group_repeats(overlaps: Sequence[Overlap | None], threshold: float) -> list[list[int]]:
    """Group the positions of sentences: each new sentence with those that repeat it, or repeat a repeat.

    Groups are in the order of their first sentences. Appending sentences can only add to groups.
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
    """The weighted share of the sentence's terms in the earlier one, as an exact sum."""
    shared = math.fsum(weights[term] for term in sentence & earlier)
    return shared / math.fsum(weights[term] for term in sentence)


def _share_half(sentences: Sequence[Terms], few_terms: int) -> Iterator[tuple[int, int]]:
    """Yield the pairs of a sentence and an earlier one that has at least half of its terms.

    Of sentences with the same terms, only the first counts as earlier. A sentence with half of n terms has at
    least one of any n // 2 + 1 of them, so only the rarest are looked up.
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
            needed = len(terms) if len(terms) >= few_terms else max(len(terms), len(sentences[earlier]))
            if 2 * len(terms & sentences[earlier]) >= needed:
                yield place, earlier
        first[terms] = place
        for term in terms:
            with_term.setdefault(term, []).append(place)


def find_newest(
    prepared: PreparedQuery, k: int = 10, filters: Filters = NO_FILTERS, *, records: bool = True
) -> Answer:
    """Return the k newest of all matching sentences. Those without a date come last.

    Ties are in collection order. `total` counts all that match.
    """
    k = check_k(k)
    started = time.perf_counter()
    result = prepared.index.select(prepared.all_words, k, filters, Hits(records=records))
    hits = add_scores(prepared, result.hits)
    took = prepared.took_ms + elapsed_ms(started)
    return Answer(hits, result.total, took, prepared.unseen, result.incomplete)


def add_scores(prepared: PreparedQuery, hits: Sequence[Hit]) -> list[Hit]:
    """Add scores for the query to the hits, 0 for a sentence without a score."""
    ids, ordinals = [hit.sentence_id for hit in hits], [hit.ordinal for hit in hits]
    scores = known_scores(prepared, ids, ordinals)
    return [hit._replace(score=score) for hit, score in zip(hits, scores, strict=True)]


MAX_READ = 10_000
"""Maximum sentences read for one answer, oldest first."""
MAX_BEFORE = 2_000
"""Maximum sentences read from before the first requested day, the latest ones."""
_FIRST_READ, _GROWTH = 200, 4
_HITS_PER_SENTENCE, _MAX_MORE = 3, 2_000
"""Hits fetched for each sentence of a folded list, and the maximum of hits minus sentences."""


class NovelAnswer(Struct, frozen=True):
    """The new sentences, and for each, by its id, the later ones read that repeat it.

    The answer's `incomplete` is set if reading stopped at the limit with fewer than k new sentences.
    """

    answer: Answer
    repeats: Mapping[str, Sequence[Hit]]


def group_hits(
    hits: Sequence[Hit], index: Index, threshold: float, terms: Sequence[Terms] | None = None
) -> list[list[Hit]]:
    """Group the hits: each one that says something new with the later ones that repeat its group.

    `terms` are those of the hits, if known. Appending hits does not change the first sentences of groups.
    Raises UsageError for a bad threshold.
    """
    check_threshold(threshold)
    terms = analyze_hits(hits, index) if terms is None else terms
    return _group_by_terms(hits, terms, index, threshold, FEW_TERMS_IN_LISTS)


MANY = 10
"""Factor by which more hits are read if most of the first ones are repeats."""


def hits_to_fold(k: int) -> int:
    """The number of hits to fetch for a folded list of k items, since repeats and neighbours are joined."""
    return min(k * _HITS_PER_SENTENCE, k + _MAX_MORE)


def analyze_hits(hits: Sequence[Hit], index: Index) -> list[Terms]:
    """The distinct terms of each hit, which needs its record."""
    return [frozenset(index.analyzer.terms(require_record(hit).text)) for hit in hits]


def _group_by_terms(
    hits: Sequence[Hit],
    terms: Sequence[Terms],
    index: Index,
    threshold: float,
    few_terms: int = FEW_TERMS,
) -> list[list[Hit]]:
    overlaps = find_overlaps(terms, lambda needed: weigh_by_rarity(index, needed), few_terms)
    groups = group_repeats(overlaps, threshold)
    return [[hits[place] for place in group] for group in groups]


def weigh_by_rarity(index: Index, terms: Collection[str]) -> Mapping[str, float]:
    """log( (N + 1) / (0.5 + sf(t)) ) of each term (docs/formulas.md, G.1)."""
    size = index.statistics(()).collection.sentences
    holders = index.vocabulary(TermHolders(list(terms)))
    return {term: rarity(size, min(count, size)) for term, count in holders.items()}


def find_novel(
    prepared: PreparedQuery,
    k: int = 10,
    filters: Filters = NO_FILTERS,
    *,
    threshold: float = DEFAULT_THRESHOLD,
) -> NovelAnswer:
    """Return the k oldest matching sentences that say something new. Those without a date come last.

    A sentence is new if no earlier matching one contains the share `threshold` of it. If the filters have a
    first day, repeats of what was said before that day are not new either. `total` counts all that match.
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
        result = prepared.index.select(prepared.all_words, count, filters, Hits(), oldest_first=True)
        hits = [*before, *result.hits]
        terms += analyze_hits(hits[len(terms) :], prepared.index)  # analyse only the hits just read
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
    """The last sentences before the first day, oldest first, and the number of all before it."""
    if filters.date_from is None:
        return [], 0
    earlier = replace(filters, date_from=None, date_to=filters.date_from - 1)
    result = prepared.index.select(prepared.all_words, MAX_BEFORE, earlier, Hits())
    return list(result.hits)[::-1], result.total


def _say_bound(what: str) -> str:
    return f"only the {what} were compared: limit the dates, or add words to the query"


TERMS = 8
"""Number of the sentence's terms to search for: those with the greatest c(t,s) log(N / sf(t))."""


def prepare_similar(
    searcher: Searcher, sentence_id: str, ranking: Ranking | None = None
) -> tuple[PreparedQuery, str]:
    """Prepare the query for sentences similar to one. Returns it with the id of the sentence's document.

    Raises UsageError for an unknown sentence, or one without words.
    """
    snapshot = searcher.snapshot()
    (record,) = snapshot.index.read([sentence_id], Records())
    snapshot = snapshot.for_document(record.language)
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
    """Return the k sentences most similar to a sentence, without itself.

    Sentences of its document are left out unless `own_document`. `total` counts all candidates.
    """
    prepared, document_id = prepare_similar(searcher, sentence_id, ranking)
    return search_similar(prepared, sentence_id, None if own_document else document_id, k, filters)


def search_similar(
    prepared: PreparedQuery, sentence_id: str, left_out: str | None, k: int, filters: Filters = NO_FILTERS
) -> Answer:
    """Return the best k sentences, without this sentence and the document `left_out`."""
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


def find_passages(
    find: Callable[[int], Answer],
    prepared: PreparedQuery,
    k: int,
    filters: Filters,
    *,
    overlap: float | None,
    joins: bool,
) -> tuple[Answer, list[Passage]]:
    """The first k passages of a query, with an answer that has their best hits.

    `find` returns the answer with n hits. The other arguments are those of `list_passages`.
    """
    count = k if overlap is None and not joins else hits_to_fold(k)
    arrange = partial(list_passages, prepared, filters=filters, overlap=overlap, joins=joins)
    answer = find(count)
    listed = arrange(answer.hits)
    if len(listed) < k and len(answer.hits) == count:  # most hits are repeats or neighbours
        answer = find(MANY * count)
        listed = arrange(answer.hits)
    return replace(answer, hits=[passage.best for passage in listed[:k]]), listed[:k]


def list_passages(
    prepared: PreparedQuery,
    hits: Sequence[Hit],
    filters: Filters = NO_FILTERS,
    *,
    overlap: float | None,
    joins: bool,
) -> list[Passage]:
    """The hits of a query as passages, best first. Hits must have records.

    `overlap` is the minimum share in an earlier sentence that makes a repeat; None folds nothing. With
    `joins`, neighbours form one passage, passages per document are limited, and sentences that do not answer
    the query are left out.
    """
    terms = analyze_hits(hits, prepared.index) if joins or overlap is not None else []
    wordless: frozenset[str] = frozenset()
    if joins:
        wordless = find_wordless(prepared, hits, terms)
        answers = select_answering(prepared, hits, wordless)
        hits, terms = list(compress(hits, answers)), list(compress(terms, answers))
    groups: Sequence[Sequence[Hit]] = [[hit] for hit in hits]
    if overlap is not None:
        groups = group_hits(hits, prepared.index, overlap, terms)
    if not joins:
        return single(groups)
    passages = build_passages(groups, None if filters.documents else MOST_OF_DOCUMENT, wordless)
    for passage in passages:
        if passage.best.sentence_id in wordless:
            passage.reason = explain_wordless(prepared, passage.best)
    return passages
