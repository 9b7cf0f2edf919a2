"""The fields of sentences with vectors, and the encoders that made an index's vectors.

`vectors.d384` stores the 8-bit numbers of a vector with 384 dimensions, and `vectors.scale` their factor. The
fields are mapped when the first vector is stored. Elasticsearch keeps vectors out of `_source` from 9.2 on,
but only indexed ones. A flat index holds the numbers and nothing else, while a field that is not indexed
stores them in `_source` a second time, as JSON. A server without a type for vectors stores their bytes.
"""

from __future__ import annotations

import time
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.dialect import ELASTICSEARCH, Dialect
from esr.elastic.requests import count
from esr.elastic.statistics import MAX_AGE
from esr.enrichment.recipe import Recipe
from esr.index.contract import find_main_encoder
from esr.text.document import VECTORS, QuantizedVector

SCALE = f"{VECTORS}.scale"
_VECTOR: Mapping[str, Any] = {
    "type": "dense_vector",
    "element_type": "byte",
    "index": True,
    "similarity": "max_inner_product",
    "index_options": {"type": "flat"},
}


def vector_field(dimensions: int) -> str:
    """The field of vectors with this number of dimensions."""
    return f"{VECTORS}.d{dimensions}"


def encode_vector(vector: QuantizedVector, dialect: Dialect = ELASTICSEARCH) -> dict[str, Any]:
    """The field `vectors` of a sentence."""
    values = vector.array.tolist() if dialect.has_vectors else b64encode(vector.values).decode()
    return {f"d{len(vector.values)}": values, "scale": vector.scale}


def map_vectors(cluster: Cluster, indices: Iterable[str], dimensions: int) -> None:
    """Add the fields to indices of sentences that lack them. Existing fields stay as they are."""
    vector = cluster.dialect.template({**_VECTOR, "dims": dimensions})
    fields = {"scale": {"type": "float", "index": False}, f"d{dimensions}": vector}
    with cluster.translate_errors():
        for index in indices:
            mappings = cluster.client.indices.get_mapping(index=index)[index]["mappings"]
            mapped = mappings["properties"].get(VECTORS, {}).get("properties", {})
            added = {name: field for name, field in fields.items() if name not in mapped}
            if added:
                cluster.client.indices.put_mapping(index=index, properties={VECTORS: {"properties": added}})


def stored_dimensions(field: Mapping[str, Any]) -> int:
    """The number of dimensions of the vector in a stored field `vectors`."""
    (name,) = field.keys() - {"scale"}
    return int(name[1:])


def source_with_vectors(cluster: Cluster, fields: Iterable[str]) -> dict[str, Any]:
    """The `_source` parameter of a search that returns these fields, including vectors."""
    asked: dict[str, Any] = {"includes": list(fields)}
    if not cluster.dialect.excludes_vectors(cluster.version()):
        return asked
    return {**asked, "exclude_vectors": False}


class EncoderReader:
    """Reads the fingerprints of vectors by the encoder that made them, and caches them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._read_at = -MAX_AGE
        self._fingerprints: dict[str, list[str]] = {}

    def fingerprints(self, encoder: str) -> list[str]:
        """The fingerprints of this encoder. A sentence whose vector it made has one of them in `enriched`."""
        return self._read().get(encoder, [])

    def main_encoder(self) -> str | None:
        """The id of the encoder that made the vectors of most documents, None without vectors."""
        by_encoder = self._read()
        if len(by_encoder) <= 1:
            return next(iter(by_encoder), None)
        documents = Counter(
            {
                encoder: count(self._cluster, self._cluster.documents_alias, {"terms": {"enriched": marks}})
                for encoder, marks in by_encoder.items()
            }
        )
        return find_main_encoder(documents)

    def _read(self) -> dict[str, list[str]]:
        now = time.monotonic()
        if now - self._read_at >= MAX_AGE:
            by_encoder: dict[str, list[str]] = {}
            for load in meta.searchable_loads(self._cluster):
                for recipe in map(Recipe.from_dict, load.recipes.values()):
                    if VECTORS in recipe.parts:
                        marks = by_encoder.setdefault(recipe.versions["encoder"], [])
                        marks.append(recipe.fingerprints[VECTORS])
            self._fingerprints, self._read_at = by_encoder, now
        return self._fingerprints
