"""A plan as an Elasticsearch query: one script per term, one over their sum.

Constant sources (stored scripts), everything variable in `params`: scripts are compiled once.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any, Literal, NamedTuple

from esr.engines.elasticsearch.store.bounds import GREATEST_OFFSET, GREATEST_SCORE, above, bounds
from esr.engines.entities import parse_entity_filter
from esr.engines.index import Filters
from esr.errors import EsrError
from esr.plans.plan import FieldName, Mixture, Plan, PlanTerm, Saturation, Static, StaticForm
from esr.plans.statistics import CollectionStatistics

MIXTURE, SATURATION, SCORE = "esr-mixture-v2", "esr-saturation-v1", "esr-score-v2"

# The indexed field and the stored length of each field of a plan.
INDEXED: dict[FieldName, str] = {"sentence": "text", "surrounding": "surrounding", "document": "context"}
LENGTH: dict[FieldName, str] = {
    "sentence": "length",
    "surrounding": "surrounding_length",
    "document": "document_length",
}
Query = dict[str, Any]


class Scored(NamedTuple):
    """A query, and what to add to its scores to get the formula's value."""

    query: Query
    shift: float


def scored(
    plan: Plan, collection: CollectionStatistics, filters: Filters, *, standalone: bool = False
) -> Scored:
    """The query of a plan.

    `standalone` leaves p(t|C) to the engine's own statistics (`_termStats`), so that the query needs
    nothing but its terms and the collection's length; it wants `search_type=dfs_query_then_fetch`,
    and is for mixtures only.
    """
    layers = _layers(plan)
    clauses = [_term_clause(plan, term, layers, collection, standalone) for term in plan.terms]
    rising = all(term.weight >= 0 for term in plan.terms)
    only = filter_clauses(filters) + _valued(plan)
    # Where the scripts match just the candidates, no second look at them is needed.
    matched = {"matching": len(layers) == 1, "context": layers[-1] == plan.context, "all": False}
    if not (rising and matched[plan.candidates] and len(plan.matching) == len(plan.terms)):
        only.append(_rule(plan))
        query: Query = {"bool": {"should": clauses, "minimum_should_match": 0, "filter": only}}
    else:
        query = {"bool": {"should": clauses, "minimum_should_match": 1, "filter": only}}
    offset = _offset(plan, collection)
    transform = plan.transform
    mixture = isinstance(transform, Mixture)
    params = {
        "query": plan.query_weight if mixture else 0,
        "mu": transform.mu if isinstance(transform, Mixture) else 0,
        "collection": list(transform.collection) if isinstance(transform, Mixture) else [1, 0],
        "statics": [_static_params(static) for static in plan.statics],
        "offset": offset,
    }
    shift = -offset
    if mixture:
        shift += math.fsum(term.weight * math.log(term.background) for term in plan.terms if term.own)
    else:
        shift += math.fsum(t.weight * _limit(transform) for t in plan.terms if t.weight < 0)
    return Scored({"script_score": {"query": query, "script": {"id": SCORE, "params": params}}}, shift)


def candidates(plan: Plan, filters: Filters) -> Query:
    """The query that matches a plan's candidates, without scores."""
    return {"bool": {"filter": [_rule(plan), *filter_clauses(filters)]}}


def with_scores(plan: Plan, filters: Filters) -> Query:
    """The query that matches the candidates for which the plan has a score."""
    return {"bool": {"filter": [_rule(plan), *filter_clauses(filters), *_valued(plan)]}}


def whole_documents(plan: Plan, filters: Filters) -> bool:
    """Whether a document's sentences are all among the answer's candidates or none."""
    reached = plan.candidates == "all" or (plan.candidates == "context" and plan.context == "document")
    return reached and not filters.entities and not _valued(plan)


def _valued(plan: Plan) -> list[Query]:
    """What lets those sentences pass that have what the plan requires."""
    return [
        {"range": {static.column: {"gt": above(static)}}}
        for static in plan.statics
        if static.form == "log" and static.required
    ]


def filter_clauses(filters: Filters, of: Literal["sentences", "documents"] = "sentences") -> list[Query]:
    """What lets sentences pass, or documents that may have such. Entities are known of sentences alone."""
    clauses: list[Query] = []
    if filters.date_from is not None or filters.date_to is not None:
        ends = {"gte": filters.date_from, "lte": filters.date_to}
        known = {key: value for key, value in ends.items() if value is not None}
        clauses.append({"range": {"date": {**known, "format": "epoch_millis"}}})
    if filters.sources:
        clauses.append({"terms": {"source": list(filters.sources)}})
    if filters.documents:
        clauses.append({"terms": {"document_id": list(filters.documents)}})
    if filters.entities and of == "sentences":
        asked = [entity for name in filters.entities for entity in parse_entity_filter(name)]
        named = [{"term": {f"entities.{entity.type}": entity.text}} for entity in asked]
        clauses.append({"bool": {"should": named, "minimum_should_match": 1}})
    return clauses


def _layers(plan: Plan) -> list[FieldName]:
    """The fields to look for a term in, each inside the next. The sentence is always there."""
    used = set(plan.transform.fields()) | {"sentence"}
    if plan.candidates == "context":
        used.add(plan.context)
    return [name for name in INDEXED if name in used]


def _rule(plan: Plan) -> Query:
    if plan.candidates == "all":
        return {"match_all": {}}
    field = "text" if plan.candidates == "matching" else INDEXED[plan.context]
    return {"terms": {field: list(plan.matching)}}


def _term_clause(
    plan: Plan, term: PlanTerm, layers: list[FieldName], collection: CollectionStatistics, standalone: bool
) -> Query:
    should = [{"term": {INDEXED[name]: term.term}} for name in layers]
    # What holds the term anywhere holds it in the widest field: the others are there to be counted.
    query: Query = {"bool": {"must": should[-1:], "should": should[:-1]}}
    if term.weight < 0:
        # What does not hold the term gets the whole shift: every sentence must be seen.
        query = {"bool": {"should": should, "must": [{"match_all": {}}]}}
    transform = plan.transform
    nothing = [0, 0] if isinstance(transform, Mixture) else [0, 0, 1]
    # `own` is the sentence, `wide` the outermost other field, `middle` what lies between.
    roles = {"own": layers[0], "wide": layers[-1] if len(layers) > 1 else None}
    roles["middle"] = layers[1] if len(layers) > 2 else None
    params: dict[str, Any] = {
        role: list(getattr(transform, name)) if name else nothing for role, name in roles.items()
    }
    params["wide_length"] = LENGTH[layers[-1]]
    if isinstance(transform, Mixture):
        script = MIXTURE
        params |= {"mu": transform.mu, "collection": list(transform.collection)}
        params |= {"background": term.background, "occurrences": collection.occurrences}
        params |= {"standalone": standalone}
    else:
        script = SATURATION
        params |= {"k1": -1 if transform.k1 is None else transform.k1}
    params |= {"weight": term.weight}
    return {"script_score": {"query": query, "script": {"id": script, "params": params}}}


def _limit(transform: Mixture | Saturation) -> float:
    """What a saturation's curve stays below."""
    assert isinstance(transform, Saturation) and transform.k1 is not None, "only BM25 has negative weights"
    return transform.k1 + 1.0


# The parameters of the forms that have some.
_OF_FORM: dict[StaticForm, tuple[str, ...]] = {"log": ("shift",), "satu": ("k",), "sigm": ("k", "a")}


def _static_params(static: Static) -> dict[str, Any]:
    """A static as the script reads it: no more than its form needs."""
    names = ("column", "form", "weight", "constant", *_OF_FORM.get(static.form, ()))
    return {name: getattr(static, name) for name in names} | (asdict(static.curve) if static.curve else {})


def _offset(plan: Plan, collection: CollectionStatistics) -> float:
    """Enough for no score to fall below 0: Elasticsearch refuses negative scores.

    Raises EsrError where the stored numbers add more than its 32-bit scores can tell apart.
    """
    lowest = 0.0
    transform = plan.transform
    if isinstance(transform, Mixture):
        mu, (constant, slope) = transform.mu, transform.collection
        least = mu / (collection.longest_sentence + mu) if mu else 0.0
        most = 1.0 if mu else 0.0
        lowest += plan.query_weight * math.log(min(constant + slope * least, constant + slope * most))
    for static in plan.statics:
        low, high = bounds(static, collection)
        if low < -GREATEST_OFFSET or high > GREATEST_SCORE:
            raise EsrError(
                f"{static.column} adds from {low:g} to {high:g}, more than Elasticsearch's 32-bit scores can "
                "tell apart: lower its weight, or take the form satu or log"
            )
        lowest += low
    return max(0.0, -lowest)
