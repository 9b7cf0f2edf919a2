"""Explains scores: splits the score of a sentence into parts that add up to it, in both stages."""

from __future__ import annotations

import math

import numpy as np
from msgspec.structs import replace

from esr.errors import UsageError
from esr.index.filters import NO_FILTERS, Filters
from esr.index.questions import EvidenceOf
from esr.index.view import chosen_language, languages_of
from esr.plans.evaluate import Evidence, apply_static_score, score_sentences, split_scores
from esr.ranking.boosts.expansions import weights_by_boost
from esr.ranking.explanation.explanation import Explanation
from esr.ranking.explanation.parts import BoostPart, FeaturePart, FieldPart, PriorPart, TermPart
from esr.ranking.explanation.second_stage import explain_second
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.ranking import Origin
from esr.ranking.second_stage.rerank_context import RerankContext
from esr.ranking.second_stage.reranker import Reranker


def explain(prepared: PreparedQuery, sentence_id: str, filters: Filters = NO_FILTERS) -> Explanation:
    """Split a sentence's score for a prepared query into its parts. Raises UsageError for an unknown id.

    `filters` are those of the search: some parts depend on the other sentences that are reranked.
    """
    index, plan, unseen = prepared.index, prepared.plan, prepared.unseen
    language, _ = chosen_language(index)
    (other,) = languages_of(index, [sentence_id])
    if other != language:
        raise UsageError(
            f"sentence {sentence_id!r} is in the language {other}, and the query in {language}: "
            "name the language of the query with --query-language"
        )
    columns = [static_score.column for static_score in plan.static_scores]
    evidence = index.read([sentence_id], EvidenceOf([term.term for term in plan.terms], columns))
    second, reranker = None, prepared.ranking.reranker()
    terms: list[TermPart] = []
    priors: list[PriorPart] = []
    features: list[FeaturePart] = []
    steps: list[BoostPart] = []
    length = first = 0.0
    if prepared.has_candidates:
        terms, length = _term_parts(prepared, evidence)
        priors, features, steps = _static_score_parts(prepared, evidence)
        first = float(score_sentences(plan, evidence)[0])
    if reranker is not None and (prepared.has_candidates or reranker.uses_vectors):
        context = prepared.rerank_context([sentence_id], reranker.columns)
        tree_score, missing = _list_effects(prepared, sentence_id, reranker, context, filters)
        is_read = reranker.last is not None and sentence_id in _read_by_last(prepared, reranker, filters)
        second = explain_second(prepared, context, sentence_id, reranker, first, tree_score, missing, is_read)
    score = first if second is None else second.score
    requested = prepared.requested
    by_kind = requested.choose_params(prepared.interpretation.ranked_text)
    chosen = {name: value for name, value in by_kind.items() if name not in requested.params}
    return Explanation(
        sentence_id, score, first, terms, length, priors, features, steps, second, unseen, plan, chosen
    )


def _read_by_last(prepared: PreparedQuery, reranker: Reranker, filters: Filters) -> set[str]:
    """The ids of the best sentences, for which the last signal was computed."""
    answer = prepared.search(reranker.last_depth, filters, records=False)
    return {hit.sentence_id for hit in answer.hits[: len(answer.hits) - (answer.unread or 0)]}


def _term_parts(prepared: PreparedQuery, evidence: Evidence) -> tuple[list[TermPart], float]:
    """Return the parts of the plan's terms, and what the length adds."""
    plan, ranking = prepared.plan, prepared.ranking
    unboosted = replace(ranking, boosts={}).plan(prepared.counts, prepared.statistics)
    boosted = weights_by_boost(ranking.boosts, prepared.expansions, plan.terms, unboosted.terms)
    split = split_scores(plan, evidence)
    terms = [
        TermPart(
            Origin("term", term.term),
            term.weight,
            term.background or None,
            [
                FieldPart(
                    Origin("field", name, term.term),
                    int(evidence.counts[name][row, 0]),
                    int(evidence.lengths[name][0]),
                    float(adds[row, 0]),
                )
                for name, adds in split.fields.items()
            ],
            float(split.background[row, 0]),
            boosted.get(term.term, {}),
        )
        for row, term in enumerate(plan.terms)
    ]
    return terms, float(split.length[0])


def _static_score_parts(
    prepared: PreparedQuery, evidence: Evidence
) -> tuple[list[PriorPart], list[FeaturePart], list[BoostPart]]:
    adjustments = {(a.feature, a.form): a for a in prepared.ranking.features}
    priors: list[PriorPart] = []
    features: list[FeaturePart] = []
    steps: list[BoostPart] = []
    for origin, static_score in prepared.static_scores():
        column = evidence.columns[static_score.column]
        value, adds = float(column[0]), float(apply_static_score(static_score, column)[0])
        value_or_none = None if math.isnan(value) else value
        if origin.kind == "prior":
            priors.append(PriorPart(origin, value, static_score.weight, adds))
        elif origin.kind == "feature":
            adjustment = adjustments[origin.name, origin.detail]
            features.append(FeaturePart(origin, value_or_none, adjustment, adds))
        else:
            steps.append(BoostPart(origin, value_or_none, static_score.weight, adds))
    return priors, features, steps


def _list_effects(
    prepared: PreparedQuery,
    sentence_id: str,
    reranker: Reranker,
    alone: RerankContext,
    filters: Filters,
) -> tuple[float | None, dict[str, float]]:
    """Compute what depends on all reranked sentences: what trees add, and what replaces missing values.

    A signal without a value for this sentence may add its mean over the others. `alone` is the context of
    this sentence by itself.
    """
    signals = [s for s in reranker.signals if s.type.uses_vectors and math.isnan(s.values(alone)[0])]
    if reranker.trees is None and not signals:
        return None, {}
    _, candidates = prepared.find_candidates(reranker, reranker.depth, filters)
    ids = list(dict.fromkeys([*candidates.top.ids, sentence_id]))
    context, place = prepared.rerank_context(ids, reranker.columns), ids.index(sentence_id)
    all_places = np.arange(len(ids))
    by_words = all_places[: candidates.by_words]
    trees = None if reranker.trees is None else float(reranker.trees.adds(context, all_places)[place])
    adds = {signal.signal: signal.adds(context, all_places, by_words)[place] for signal in signals}
    return trees, {name: float(added) for name, added in adds.items()}
