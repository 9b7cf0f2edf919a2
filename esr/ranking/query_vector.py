"""The vector of a query, by the encoder that made those of an index."""

from __future__ import annotations

import os
from typing import NamedTuple

from esr.documents.vector import QuantizedVector
from esr.engines.index import Index
from esr.errors import UsageError

VARIABLE = "ESR_ENCODER"
VARIABLES = {
    VARIABLE: "the folder of the encoder of queries, where an index has vectors of one that has no known name"
}


class QueryVector(NamedTuple):
    """The id of an encoder, and what it made of a query."""

    encoder: str
    vector: QuantizedVector


def encode_query(index: Index, text: str) -> QueryVector:
    """A query as the encoder of the index's vectors encodes it.

    Raises UsageError if the index has no vectors or those of another encoder, EsrError if it cannot be had.
    """
    from esr.encoders import KNOWN, load_encoder  # which few searches need

    id = index.encoder()
    if id is None:
        raise UsageError(f"{index.where} has no vectors: run esr enrich --only vectors")
    name = os.environ.get(VARIABLE) or id.rpartition(" ")[0]
    if name not in KNOWN and VARIABLE not in os.environ:
        raise UsageError(
            f"the vectors of {index.where} are of the encoder {id}, which has no known name: "
            f"set {VARIABLE} to its folder"
        )
    encoder = load_encoder(name)
    if encoder.description.id != id:
        raise UsageError(
            f"the vectors of {index.where} are of the encoder {id}, and this is {encoder.description.id}: "
            f"set {VARIABLE} to the folder of that one, or run esr enrich --only vectors with this one"
        )
    return QueryVector(id, encoder.encode_query(text))
