"""Requests to Elasticsearch that rank its sentences, for other applications to send.

`raw_request` is the request of one query. The others are templates. In `request_template`, applications fill
in the words of each query: it has slots, strings that begin with $, each of which stands for one JSON value.
Each index in Elasticsearch stores the template of the default ranking in its `_meta`, where the clients of
`clients/` find it. In `search_template`, Elasticsearch itself fills in the words (Mustache).
"""

from __future__ import annotations

import json
from typing import Any

from esr import resources
from esr.errors import UsageError
from esr.index.contract import Index
from esr.index.filters import Filters
from esr.index.questions import SimilaritiesTo
from esr.index.similarities import SimilarityRescoring, mean_known
from esr.plans.plan import CollectionStatistics, Mixture, Statistics, TermStatistics
from esr.ranking.prepared_query import PreparedQuery
from esr.ranking.ranking import Ranking
from esr.ranking.second_stage.meaning_signal import NAME, has_kinds
from esr.ranking.second_stage.rerank_context import VectorWeights


def raw_request(
    prepared: PreparedQuery, k: int, *, filters: Filters, standalone: bool = False
) -> dict[str, Any]:
    """The body of a `_search` on the alias. Raises UsageError if the ranking cannot be a request.

    `standalone` leaves p(t|C) to Elasticsearch; for language models only.
    """
    ranking = prepared.ranking
    if standalone and ranking.settings().values.get("background") == "documents":
        raise UsageError("--standalone takes p(t|C) from occurrences: leave out background=documents")
    if standalone and ranking.boosts:
        raise UsageError(
            "--standalone serves any query, and a boost expands the words of one: leave out "
            + ", ".join(f"--boost {name}" for name in ranking.boosts)
        )
    rescoring = _build_rescoring(prepared, k, filters) if can_rescore(ranking) else None
    return prepared.index.request(prepared.plan, k, filters, standalone=standalone, rescoring=rescoring)


def can_rescore(ranking: Ranking) -> bool:
    """Whether the ranking's second stage can be part of a request. Only similarities of sentences can.

    Where the kind of the query chooses the shares of neighbours and document, the request is without them.
    """
    reranker = ranking.reranker()
    if (
        reranker is None
        or reranker.trees
        or reranker.first_weight != 1.0
        or len(reranker.signals) != 1
        or reranker.last
    ):
        return False
    (signal,) = reranker.signals
    if signal.signal != NAME:
        return False
    settings = signal.settings()
    return has_kinds(signal.params) or not (settings["nu"] or settings["lambda"])


def _build_rescoring(prepared: PreparedQuery, k: int, filters: Filters) -> SimilarityRescoring:
    """The second stage as data for a request, including the current value for sentences without a vector."""
    index, ranking = prepared.index, prepared.ranking
    hits = index.search(prepared.plan, ranking.depth, filters, records=False).hits
    encoder, vector = prepared.vectors.vector(VectorWeights.of(ranking.rerank[0].settings()))
    ids, ordinals = [hit.sentence_id for hit in hits], [hit.ordinal for hit in hits]
    similarities = index.read(ids, SimilaritiesTo(encoder, vector), ordinals).sentence
    weight, window = ranking.rerank[0].weight, max(k, ranking.depth)
    return SimilarityRescoring(encoder, vector, weight, window, mean_known(similarities))


_VERSION = 1
_TERM = "$term"
_ONCE = Statistics(CollectionStatistics(1, 1, 1, 1, longest_sentence=1), {_TERM: TermStatistics(1, 1, 1)})


def request_template(ranking: Ranking, index: Index) -> dict[str, Any]:
    """The request of a ranking with slots. Raises UsageError if the ranking cannot be a request.

    `body` has the slots $clauses, $filter, $query, $offset and $k. Each of the $clauses is a `clause`, whose
    slots are $term, $weight, $background and $occurrences. `statistics` are searches for the values of these
    slots.
    """
    body, clause = _body_and_clause(ranking, index)
    params = clause["script_score"]["script"]["params"]
    params |= {name: f"${name}" for name in ("background", "occurrences", "weight")}
    known = ranking.as_dict()
    return {
        "version": _VERSION,
        "ranking": {key: known[key] for key in ("model", "context", "params")},
        "body": body,
        "clause": clause,
        "statistics": resources.load_json("requests/statistics.json"),
    }


_NUMBER = "{{terms.size}}{{^terms}}{{words.size}}{{/terms}}"
_FILTERS = (
    ("source", {"term": {"source": "{{source}}"}}),
    ("after", {"range": {"date": {"gte": "{{after}}"}}}),
    ("before", {"range": {"date": {"lt": "{{before}}"}}}),
)


def search_template(ranking: Ranking, index: Index) -> str:
    """The Mustache template of a ranking, for `dfs_query_then_fetch`. Raises UsageError if it has none.

    Its parameters are `terms`, analysed, or `words` as typed, each a list with repetitions, and the optional
    `k`, `source`, `after` and `before`. The collection's length is that at the time of the call.
    """
    body, clause = _body_and_clause(ranking, index, standalone=True)
    of_term = json.dumps(clause).replace(_TERM, "{{.}}")
    of_word = of_term.replace('{"term"', '{"match"')
    filters = [f"{{{{#{name}}}}}{json.dumps(query)},{{{{/{name}}}}}" for name, query in _FILTERS]
    clauses = f"{{{{#terms}}}}{of_term},{{{{/terms}}}}{{{{#words}}}}{of_word},{{{{/words}}}}"
    slots = {
        "$clauses": f'[{clauses}{{"match_none": {{}}}}]',
        "$filter": f'[{"".join(filters)}{{"match_all": {{}}}}]',
        "$query": _NUMBER,
        "$offset": f"{_NUMBER}0",  # ten for each word: more than any sentence can lose for its length
        "$k": "{{k}}{{^k}}10{{/k}}",
    }
    source = json.dumps(body)
    for slot, text in slots.items():
        source = source.replace(f'"{slot}"', text)
    return source


def _body_and_clause(
    ranking: Ranking, index: Index, standalone: bool = False
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The body of a request with slots, and the clause of one term."""
    if index.description.is_by_language:
        raise UsageError("an index by language has no template: no server can analyse its queries")
    plan = ranking.plan({_TERM: 1}, _ONCE)
    if not isinstance(plan.transform, Mixture) or ranking.settings().choice("background") != "occurrences":
        raise UsageError("only language models with p(t|C) from occurrences have a template")
    if plan.static_scores or ranking.boosts or ranking.reranker() or ranking.candidates:
        raise UsageError(
            "a template is for a model and its parameters: leave out priors, features and the rest"
        )
    body = index.request(plan, 10, Filters(), standalone=standalone)
    score = body["query"]["script_score"]
    terms = score["query"]["bool"]
    (clause,) = terms["should"]
    terms |= {"should": "$clauses", "filter": "$filter"}
    score["script"]["params"] |= {"query": "$query", "offset": "$offset"}
    return {**body, "size": "$k"}, clause
