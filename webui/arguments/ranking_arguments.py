"""The ranking that query arguments describe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from esr import adjustments, boosts, models, priors
from esr.errors import unknown
from esr.plans.plan import CANDIDATES
from esr.priors.prior import check_weight
from esr.ranking import ranking_signal
from esr.ranking.ranking import Ranking
from esr.ranking.reranker import DEPTH
from webui.arguments.names import MAX_DEPTH, PARAMETER, PRIOR, is_ranking_argument
from webui.arguments.query_string import Arguments, parse_count
from webui.running.request_errors import blame_argument

_DEFAULT = Ranking()
"""The ranking of addresses that say nothing of it, as most do."""


def parse_ranking(arguments: Arguments, prefix: str = "") -> Ranking:
    """The ranking of the arguments that begin with `prefix`.

    It is checked piece by piece, so that an error names its argument. Raises RequestError.
    """
    own = {name.removeprefix(prefix): texts for name, texts in arguments.items() if name.startswith(prefix)}
    if not any(map(is_ranking_argument, own)):
        return _DEFAULT
    first = {name: texts[0] for name, texts in own.items()}
    with blame_argument(prefix + "model"):
        model = models.get(first.get("model", models.DEFAULT.name))
    context = first.get("context")
    with blame_argument(prefix + "context"):
        model.context(context)
    parameters = _without_prefix(first, PARAMETER)
    for name, value in parameters.items():
        with blame_argument(prefix + PARAMETER + name):
            model.settings({name: value}, context)
    weights = {}
    for name, value in _without_prefix(first, PRIOR).items():
        with blame_argument(prefix + PRIOR + name):
            weights[name] = check_weight(priors.get(name).name, value)
    candidates = first.get("candidates")
    if candidates is not None and candidates not in CANDIDATES:
        with blame_argument(prefix + "candidates"):
            raise unknown("candidates", candidates, CANDIDATES)
    with blame_argument(prefix + "feature"):
        features = tuple(adjustments.parse(text) for text in own.get("feature", ()))
    with blame_argument(prefix + "boost"):
        expansions = boosts.from_json(dict(map(boosts.parse, own.get("boost", ()))))
    with blame_argument(prefix + "rerank"):
        signals = tuple(ranking_signal.parse(text) for text in own.get("rerank", ()))
    depth = parse_count(prefix + "depth", first.get("depth"), DEPTH, MAX_DEPTH)
    with blame_argument(prefix + "rerank" if signals else prefix + "feature" if features else None):
        return Ranking(
            model.name,
            context,
            parameters,
            weights,
            candidates,
            features,
            expansions,
            rerank=signals,
            depth=depth,
        )


def _without_prefix(first: Mapping[str, str], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in first.items() if name.startswith(prefix)}
