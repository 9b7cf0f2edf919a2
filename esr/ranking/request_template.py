"""The request of a ranking with slots, for applications that fill in the words of each query themselves.

Each index in Elasticsearch stores the template of the default ranking in its `_meta`, where the clients of
`clients/` find it. A slot is a string that begins with $ and stands for one JSON value.
"""

from __future__ import annotations

from typing import Any

from esr import resources
from esr.errors import UsageError
from esr.index.contract import Index
from esr.index.filters import Filters
from esr.plans.plan import CollectionStatistics, Mixture, Statistics, TermStatistics
from esr.ranking.ranking import Ranking

_VERSION = 1
_TERM = "$term"
_ONCE = Statistics(CollectionStatistics(1, 1, 1, 1, longest_sentence=1), {_TERM: TermStatistics(1, 1, 1)})


def request_template(ranking: Ranking, index: Index) -> dict[str, Any]:
    """The request of a ranking as a template. Raises UsageError for a ranking that has none.

    `body` has the slots $clauses, $filter, $query, $offset and $k. Each of the $clauses is a `clause`, whose
    slots are $term, $weight, $background and $occurrences. `statistics` are the searches for what fills them.
    """
    plan = ranking.plan({_TERM: 1}, _ONCE)
    if not isinstance(plan.transform, Mixture) or ranking.settings().choice("background") != "occurrences":
        raise UsageError("only language models with p(t|C) from occurrences have a template")
    if plan.statics or ranking.boosts or ranking.reranker() or ranking.candidates:
        raise UsageError(
            "a template is for a model and its parameters: leave out priors, features and the rest"
        )
    body = index.request(plan, 10, Filters())
    score = body["query"]["script_score"]
    terms = score["query"]["bool"]
    (clause,) = terms["should"]
    params = clause["script_score"]["script"]["params"]
    params |= {name: f"${name}" for name in ("background", "occurrences", "weight")}
    terms |= {"should": "$clauses", "filter": "$filter"}
    score["script"]["params"] |= {"query": "$query", "offset": "$offset"}
    known = ranking.as_dict()
    return {
        "version": _VERSION,
        "ranking": {key: known[key] for key in ("model", "context", "params")},
        "body": {**body, "size": "$k"},
        "clause": clause,
        "statistics": resources.load_json("requests/statistics.json"),
    }
