"""Upper bounds of what a term adds to the sentences of a document, on which pruning relies.

A *sentence posting* is a term in a sentence. Its evidence is known exactly, and so is the best evidence among
the postings of a document. For the document's other sentences, only two quantities are unknown:

*Mixture*     beta, between its values for the shortest and the longest sentence, and c(t,c_s)/c(c_s), between
              0 and the greatest c(t,s)/c(s) of the postings: a surrounding without the term in the middle has
              it from one or two postings, and the share in both together is no greater than the greater share
              (mediant). The evidence is affine in each, so its extremes are at the corners.
*Saturation*  what the surrounding adds, between 0 and a similar mediant; the curve rises with it.

A term with a negative weight adds most where its evidence is least. The bound of a document is the sum over
terms, each at its best sentence, and over static scores. Terms missing from the document contribute the
collection's part. Upper bounds are per unit of a term's weight, so they hold for all queries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from esr.plans.evaluate import Array, affine, beta, mixture_shares, saturate, saturation_shares
from esr.plans.plan import FieldName, Mixture, Plan, PlanTerm, Saturation, Smoothing

Numbers = npt.NDArray[np.intp]
EPS = float(np.finfo(float).eps)


class SentencePostings(Struct, frozen=True):
    """The postings of a term in sentences, of shape (s,), grouped by document, of shape (g,).

    `starts` is the first posting of each group, `document_posting` its document posting.
    """

    counts: Mapping[FieldName, Array]
    lengths: Mapping[FieldName, Array]
    starts: Numbers
    document_posting: Numbers


class DocumentPostings(Struct, frozen=True):
    """The postings of a term in documents, of shape (d,).

    For each: c(t,d), c(d), and the lengths of the shortest and the longest sentence. A document has no
    sentence posting if the term is only in its title.
    """

    count: Array
    length: Array
    shortest: Array
    longest: Array


class TermlessScore(NamedTuple):
    """The score of a sentence without any term: a constant, and weights for `Bound.log_collection_range`.

    The positive weight applies to the upper end of the range, the negative weight to the lower.
    """

    constant: float
    positive_weight: float
    negative_weight: float


class Bound:
    """The bounds for one transform, in a collection whose longest sentence has `longest` terms."""

    def __init__(self, transform: Mixture | Saturation, longest: int) -> None:
        self._transform = transform
        self._longest = longest
        self._least_collection = self._total_weight = 0.0
        self._reason = (
            self._saturation_reason() if isinstance(transform, Saturation) else self._mixture_reason(longest)
        )

    def _saturation_reason(self) -> str | None:
        transform = self._transform
        assert isinstance(transform, Saturation)
        fields = [getattr(transform, name) for name in transform.fields()]
        rises = all(f.share >= 0 and 0 <= f.b <= 1 and 0 < f.average < np.inf for f in fields)
        rises &= transform.k1 is None or 0 <= transform.k1 < np.inf
        return None if rises else "the saturation need not rise with the evidence"

    def _mixture_reason(self, longest: int) -> str | None:
        transform = self._transform
        assert isinstance(transform, Mixture)
        extremes = beta(transform, np.array([0.0, longest]))
        self._least_collection = float(affine(transform.collection, extremes).min())
        parts = (transform.sentence, transform.surrounding, transform.document, transform.collection)
        self._total_weight = sum(abs(part.constant) + abs(part.slope) for part in parts)
        for name in transform.fields():
            if not (affine(getattr(transform, name), extremes) >= 0).all():
                return "a share of the mixture is negative"
        return None

    def unavailable_reason(self, terms: Sequence[PlanTerm]) -> str | None:
        """Why there are no bounds, or None. With bounds, every score is finite, apart from static scores."""
        background = 1.0
        for term in terms:
            if not math.isfinite(term.weight):
                return "a weight is not a finite number"
            background = min(background, term.background)
        if self._reason is not None or isinstance(self._transform, Saturation):
            return self._reason
        # For smaller evidence, the logarithm could be finite in one sentence and not in another.
        if self._least_collection * background > 1e-290:
            return None
        return "the mixture may be 0 without the collection's part"

    def rounding_margin(self, plan: Plan, greatest: float) -> float:
        """The most that rounding may put between a bound and a score.

        `greatest`: the most a term or static score adds.
        """
        n = len(plan.terms) + len(plan.static_scores)
        margin = 64 * EPS * (n + 4) * (n + 1) * greatest
        if isinstance(self._transform, Saturation):
            return margin
        # Differences such as 1 - beta lose digits, which matters most for the least evidence.
        for term in plan.terms:
            least = term.background * self._least_collection
            lost = 16 * EPS * self._total_weight / least + 64 * EPS * (n + 4) * (1.0 + abs(math.log(least)))
            margin += abs(term.weight) * lost
        return margin

    def log_collection_range(self, shortest: Array, longest: Array) -> tuple[Array, Array]:
        """The greatest and the least logarithm of the collection's weight in documents.

        `shortest` and `longest` are the lengths of the documents' shortest and longest sentences.
        """
        if isinstance(self._transform, Saturation):
            return np.zeros(len(shortest)), np.zeros(len(shortest))
        transform = self._transform
        at_shortest, at_longest = (
            np.log(affine(transform.collection, beta(transform, length))) for length in (shortest, longest)
        )
        return np.maximum(at_shortest, at_longest), np.minimum(at_shortest, at_longest)

    def length_table(self) -> Array:
        """The worth of occurrences in a mixture, by the length of a sentence, of shape (longest + 1, 4).

        The worth, relative to the collection's weight, of one occurrence in the sentence, of one per term of
        the surrounding, and of the share in the document; then the logarithm of the collection's weight.
        Zeros for a saturation.
        """
        if isinstance(self._transform, Saturation):
            return np.zeros((1, 4))
        transform, lengths = self._transform, np.arange(self._longest + 1.0)
        at = beta(transform, lengths)
        weights = (transform.sentence, transform.surrounding, transform.document, transform.collection)
        sentence, surrounding, document, collection = (affine(weight, at) for weight in weights)
        sentence /= np.maximum(lengths, 1.0)
        worth = [part / collection for part in (sentence, surrounding, document)]
        return np.stack([*worth, np.log(collection)], axis=1)

    def evidence_table(self) -> Array:
        """The inputs of `upper_bounds`, by the length of a sentence, of shape (longest + 1, 4).

        For a mixture: the worth of one occurrence in the sentence, then the weights of the surrounding, the
        document and the collection. For a saturation: the worth of one occurrence in the sentence, and the
        divisor of its worth to a neighbour.
        """
        transform, lengths = self._transform, np.arange(self._longest + 1.0)
        table = np.zeros((len(lengths), 4))
        if isinstance(transform, Mixture):
            at = beta(transform, lengths)
            weights = (transform.sentence, transform.surrounding, transform.document, transform.collection)
            table[:] = np.stack([affine(weight, at) for weight in weights], axis=1)
            table[:, 0] /= np.maximum(lengths, 1.0)
        else:
            shares = saturation_shares(transform, dict.fromkeys(transform.fields(), lengths))
            table[:, 0] = shares.get("sentence", 0.0)
            if transform.surrounding.share:
                table[:, 1] = _beside_norm(transform.surrounding, lengths)
        return table

    def termless_score(self, terms: Sequence[PlanTerm]) -> TermlessScore:
        """The score of a sentence without any of these terms."""
        if isinstance(self._transform, Saturation):
            return TermlessScore(0.0, 0.0, 0.0)
        logarithms: list[float] = []
        positive: list[float] = []
        negative: list[float] = []
        for term in terms:
            if term.own:
                logarithms.append(term.weight * math.log(term.background))
                (positive if term.weight > 0 else negative).append(term.weight)
        return TermlessScore(math.fsum(logarithms), math.fsum(positive), math.fsum(negative))

    def upper_bounds(self, term: PlanTerm, sentences: SentencePostings, documents: DocumentPostings) -> Array:
        """The most that a term adds in each document beyond its part of `termless_score`, of shape (d,).

        Bounds are per unit of the weight. If the weight is negative, the least evidence adds most.
        """
        if isinstance(self._transform, Mixture):
            return self._bound_mixture(term, sentences, documents)
        return self._bound_saturation(self._transform, term, sentences, documents)

    def _bound_mixture(
        self,
        term: PlanTerm,
        sentences: SentencePostings,
        documents: DocumentPostings,
    ) -> Array:
        transform = self._transform
        assert isinstance(transform, Mixture)
        at = beta(transform, sentences.lengths["sentence"])
        collection = affine(transform.collection, at) * term.background
        x = collection.copy()
        for name, share in mixture_shares(transform, sentences.lengths).items():
            x += share * sentences.counts[name]
        if not term.own:
            x /= collection
        near = self._greatest_near(
            sentences, lambda: sentences.counts["sentence"] / np.maximum(sentences.lengths["sentence"], 1.0)
        )
        document_share = documents.count / np.maximum(documents.length, 1.0)
        other_evidence, termless = [], []
        for length in (documents.shortest, documents.longest):
            at = beta(transform, length)
            nothing = affine(transform.collection, at) * term.background
            least = nothing + affine(transform.document, at) * document_share
            corners = [least]
            if near is not None:
                group = sentences.document_posting
                corners.append(least.copy())
                corners[1][group] += affine(transform.surrounding, at[group]) * near
            other_evidence += corners if term.own else [corner / nothing for corner in corners]
            termless.append(nothing if term.own else np.ones(len(nothing)))
        best = _best_evidence(x, sentences, other_evidence, term.weight)
        return np.log(best / reduce(_better(term.weight), termless))

    def _bound_saturation(
        self,
        transform: Saturation,
        term: PlanTerm,
        sentences: SentencePostings,
        documents: DocumentPostings,
    ) -> Array:
        x = np.zeros(len(sentences.counts["sentence"]))
        for name, share in saturation_shares(transform, sentences.lengths).items():
            x += share * sentences.counts[name]

        def evidence_beside() -> Array:
            field = transform.surrounding
            counts, lengths = sentences.counts["sentence"], sentences.lengths["sentence"]
            return field.share * counts / _beside_norm(field, lengths)

        near = self._greatest_near(sentences, evidence_beside)
        least = np.zeros(len(documents.count))
        if transform.document.share:
            shares = saturation_shares(transform, dict.fromkeys(transform.fields(), documents.length))
            least = shares["document"] * documents.count
        corners = [least]
        if near is not None:
            corners.append(least.copy())
            corners[1][sentences.document_posting] += near
        return saturate(transform, _best_evidence(x, sentences, corners, term.weight))

    def _greatest_near(
        self, sentences: SentencePostings, evidence_beside: Callable[[], Array]
    ) -> Array | None:
        """The most that the surrounding adds to a sentence without the term, of shape (g,).

        `evidence_beside` returns the most that each sentence posting adds to its neighbours.
        """
        if "surrounding" not in self._transform.fields() or not len(sentences.starts):
            return None
        return np.maximum.reduceat(evidence_beside(), sentences.starts)


def _beside_norm(field: Smoothing, lengths: Array) -> Array:
    """The least norm of the surrounding of a neighbour, by the length of the sentence."""
    return (1.0 - field.b) / 2.0 + field.b * lengths / field.average


def _better(weight: float) -> np.ufunc:
    """The ufunc that selects the evidence that adds more."""
    return np.minimum if weight < 0 else np.maximum


def _best_evidence(
    x: Array, sentences: SentencePostings, other_evidence: Sequence[Array], weight: float
) -> Array:
    """The evidence of the best sentence of each document, either a sentence posting (`x`) or elsewhere."""
    better = _better(weight)
    best: Array = reduce(better, other_evidence).copy()
    if len(sentences.starts):
        group = sentences.document_posting
        best[group] = better(best[group], better.reduceat(x, sentences.starts))
    return best
