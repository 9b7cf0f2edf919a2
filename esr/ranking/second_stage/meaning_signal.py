"""The signal `meaning`: the similarity of vectors (docs/formulas.md, section F)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from esr.models.model import NU
from esr.plans.evaluate import Array
from esr.ranking.second_stage.rerank_context import FEEDBACK, RerankContext, VectorWeights
from esr.registry import Parameter, Value
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    from esr.ranking import query_kinds
else:
    query_kinds = import_lazily("esr.ranking.query_kinds")

NAME = "meaning"
MEANING_WEIGHT = Parameter(
    "w",
    "weight of the signal",
    25.0,
    low=-1e6,
    high=1e6,
    grid=(0.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 60.0),
)
PARAMETERS = (
    Parameter("nu", "share of the neighbours", 0.0, high=0.5, grid=(0.0, 0.1, 0.2, 0.3)),
    Parameter("lambda", "share of the document", 0.0, high=0.5, grid=(0.0, 0.1, 0.2)),
    Parameter("empty", "share of the vector of an empty query, subtracted from the query's", 0.0, high=1.0),
    Parameter(
        "feedback",
        f"share of the mean vector of the best {FEEDBACK} sentences of a first ranking, added to the query's",
        0.0,
        high=1.0,
    ),
    Parameter(
        "kinds",
        "yes: parameters that are not given depend on the kind of the query (docs/meaning.md)",
        "no",
        choices=("no", "yes"),
    ),
)


def has_kinds(params: Mapping[str, Any]) -> bool:
    """Whether the parameters depend on the kind of the query."""
    return params.get("kinds") == "yes"


def choose_weights(params: Mapping[str, Any], text: str, encoder: str) -> Mapping[str, Value]:
    """The weights of the query's kind for an encoder, given by its name, if `params` ask for them."""
    if not has_kinds(params):
        return {}

    return query_kinds.find_kind(text).weights_for(encoder)


def choose_model_parameters(params: Mapping[str, Any], text: str) -> Mapping[str, float]:
    """The parameters of the default model for the query's kind, if `params` of the signal ask for them."""
    return query_kinds.find_kind(text).model if has_kinds(params) else {}


def leave_room(chosen: Mapping[str, float], own_params: Mapping[str, Any]) -> Mapping[str, float]:
    """The chosen parameters of the model. The shares of the context add up to 1 at most, with `nu` as set."""
    if "lambda" not in chosen or "nu" not in own_params:
        return chosen
    return {**chosen, "lambda": min(chosen["lambda"], 1.0 - float(NU.check(own_params["nu"])))}


def context_shares(settings: Mapping[str, Value]) -> Mapping[str, float]:
    """The shares of the neighbours and of the document, without those that are 0."""
    shares = {"neighbours": float(settings["nu"]), "document": float(settings["lambda"])}
    return {name: share for name, share in shares.items() if share}


def meaning_shares(context: RerankContext, settings: Mapping[str, Value]) -> Mapping[str, Array]:
    """What sentence, neighbours and document add to the signal `meaning`, each of shape (n,)."""
    used = context_shares(settings)
    similarities = context.similarities(tuple(used), VectorWeights.of(settings))
    parts = {"sentence": (1.0 - sum(used.values())) * similarities.sentence}
    for name, share in used.items():
        products = getattr(similarities, name)
        parts[name] = share * products
    return parts


def meaning_values(context: RerankContext, settings: Mapping[str, Value]) -> Array:
    """The signal `meaning`: the sum of its shares, NaN for a sentence without a vector."""
    return sum(meaning_shares(context, settings).values(), start=np.zeros(()))
