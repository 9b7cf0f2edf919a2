"""The fields of sentences with vectors, and the encoders that made an index's vectors.

`vectors.d384` stores the 8-bit numbers of a vector with 384 dimensions, and `vectors.scale` their factor. The
fields are mapped when the first vector is stored. Elasticsearch 9.2 and later keep indexed vectors out of
`_source`. So vectors have a flat index, which holds only the numbers, while a field that is not indexed would
store them in `_source` a second time, as JSON. A server without a type for vectors stores their bytes.

On request, the flat index becomes a graph (HNSW) of the same numbers, which finds nearly all of the nearest
without reading every vector. Products are always those of the stored numbers.
"""

from __future__ import annotations

import time
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from elasticsearch import BadRequestError

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.dialect import ELASTICSEARCH, Dialect
from esr.elastic.requests import count, hits_of, search
from esr.elastic.statistics import MAX_AGE
from esr.enrichment.recipe import Recipe
from esr.errors import UsageError
from esr.index.similarities import find_main_encoder
from esr.text.sentence_enrichment import TABLE, VECTORS, QuantizedVector

SCALE = f"{VECTORS}.scale"
FLAT_VECTOR: Mapping[str, Any] = {
    "type": "dense_vector",
    "element_type": "byte",
    "index": True,
    "similarity": "cosine",
    "index_options": {"type": "flat"},
}
GRAPH: Mapping[str, Any] = {"type": "hnsw", "m": 32, "ef_construction": 200}
MANY = 1_000_000
"""Number of vectors in a shard of which a graph finds 99 % of the nearest 100. Of more, it finds fewer."""


def vector_field(dimensions: int) -> str:
    """The field of vectors with this number of dimensions."""
    return f"{VECTORS}.d{dimensions}"


def encode_vector(vector: QuantizedVector, dialect: Dialect = ELASTICSEARCH) -> dict[str, Any]:
    """The field `vectors` of a sentence. A zero vector, which has no cosine, is stored as another times 0."""
    array = vector.array if any(vector.values) else np.array([1, *vector.array[1:]], np.int8)
    values = array.tolist() if dialect.has_vectors else b64encode(array.tobytes()).decode()
    return {f"d{len(array)}": values, "scale": vector.scale}


def decode_vector(field: Mapping[str, Any]) -> QuantizedVector:
    """The vector in a stored field `vectors`."""
    values = field[f"d{stored_dimensions(field)}"]
    stored = b64decode(values) if isinstance(values, str) else np.array(values, np.int8).tobytes()
    return QuantizedVector(stored, float(np.float32(field["scale"])))


def map_vectors(cluster: Cluster, indices: Iterable[str], dimensions: int) -> None:
    """Add the fields to indices of sentences that lack them. Existing fields stay as they are."""
    vector = cluster.dialect.template({**FLAT_VECTOR, "dims": dimensions})
    fields = {"scale": {"type": "float", "index": False}, f"d{dimensions}": vector}
    with cluster.translate_errors():
        for index in indices:
            mappings = cluster.client.indices.get_mapping(index=index)[index]["mappings"]
            mapped = mappings["properties"].get(VECTORS, {}).get("properties", {})
            added = {name: field for name, field in fields.items() if name not in mapped}
            if added:
                cluster.client.indices.put_mapping(index=index, properties={VECTORS: {"properties": added}})


def index_vectors(cluster: Cluster, indices: Sequence[str]) -> list[str]:
    """Convert the flat indexes of vectors to graphs, without waiting. Returns notes for the user.

    Searches are exact, and as slow as before, until Elasticsearch has merged the segments. Raises UsageError
    where there are no vectors, or only those that an older esr stored.
    """
    if not cluster.dialect.has_vectors:
        raise UsageError(f"{cluster.server()} has no index of vectors in esr: its searches are exact")
    with cluster.translate_errors():
        client, graphs, older, most = cluster.client, False, False, 0
        for index in indices:
            (state,) = client.indices.get(index=index).values()
            fields = _vector_fields(state["mappings"])
            shards = int(state["settings"]["index"]["number_of_shards"])
            most = max(most, count(cluster, index, {"exists": {"field": SCALE}}) // shards)
            older = older or any(field.get("similarity") != "cosine" for field in fields.values())
            flat = {
                name: {**field, "index_options": GRAPH}
                for name, field in fields.items()
                if field.get("similarity") == "cosine" and field["index_options"]["type"] == "flat"
            }
            graphs = graphs or any(field.get("similarity") == "cosine" for field in fields.values())
            if flat:
                client.indices.put_mapping(index=index, properties={VECTORS: {"properties": flat}})
                _merge_anew(cluster, index)
    if not graphs:
        problem = "were stored by an older esr: load the collection again" if older else "are not there yet"
        raise UsageError(f"the vectors of {cluster.where} {problem}")
    notes = ["Elasticsearch is building the index of vectors; searches continue meanwhile"]
    if most > MANY:
        notes.append(
            f"there are {most:,} vectors in a shard: of more than {MANY:,}, the index misses more of the "
            "nearest. Load with more --shards"
        )
    return notes


def _merge_anew(cluster: Cluster, index: str) -> None:
    """Merge all segments of an index into one, even if it has only one: only a merge builds a graph."""
    client = cluster.client
    for hit in hits_of(
        search(cluster, index=index, size=1, source=False, query={"exists": {"field": SCALE}})
    ):
        client.update(index=index, id=hit["_id"], doc={}, detect_noop=False, refresh=True)
    client.indices.forcemerge(index=index, max_num_segments=1, wait_for_completion=False)


def _vector_fields(mappings: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of vectors in a mapping, by their names under `vectors`."""
    fields = mappings.get("properties", {}).get(VECTORS, {}).get("properties", {})
    return {name: field for name, field in fields.items() if field["type"] == "dense_vector"}


def stored_dimensions(field: Mapping[str, Any]) -> int:
    """The number of dimensions of the vector in a stored field `vectors`."""
    (name,) = field.keys() - {"scale"}
    return int(name[1:])


def source_with_vectors(cluster: Cluster, fields: Iterable[str]) -> dict[str, Any]:
    """The `_source` parameter of a search that returns these fields, including vectors."""
    return {"includes": list(fields), **_options_of_vectors(cluster)}


def _options_of_vectors(cluster: Cluster) -> dict[str, Any]:
    """What a `_source` parameter needs to include vectors, which depends on the version of the server.

    Where the login may not ask for the version, a search shows whether the server knows the option.
    """
    dialect, option = cluster.dialect, {"exclude_vectors": False}
    if not dialect.has_vectors:
        return {}
    version = cluster.known_version()
    if version is not None:
        return option if dialect.excludes_vectors(version) else {}
    with cluster.translate_errors():
        try:
            cluster.client.search(index=cluster.alias, size=0, source=option)
        except BadRequestError:
            return {}
    return option


class EncoderReader:
    """Reads how vectors are stored, and their fingerprints by the encoder that made them; caches both."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._read_at = -MAX_AGE
        self._fingerprints: dict[str, dict[str, str]] = {}
        self._has_graph = False
        self._options: dict[str, Any] | None = None

    def source(self, fields: Iterable[str]) -> dict[str, Any]:
        """As `source_with_vectors`, without asking for the version of the server each time."""
        self._read()
        options = self._options  # another thread may forget it
        if options is None:
            options = self._options = _options_of_vectors(self._cluster)
        return {"includes": list(fields), **options}

    def has_graph(self) -> bool:
        """Whether all vectors are in graphs."""
        self._read()
        return self._has_graph

    def fingerprints(self, encoder: str) -> list[str]:
        """The fingerprints of this encoder. A sentence with a vector by it has one of them in `enriched`."""
        return [*self.origins(encoder)]

    def origins(self, encoder: str) -> Mapping[str, str]:
        """By fingerprint of this encoder, the digest of the table that imitates it, "" for itself.

        An unknown encoder is looked for anew, as its first vectors may just have been stored.
        """
        return self._read().get(encoder) or self._read(anew=True).get(encoder, {})

    def main_encoder(self) -> str | None:
        """The id of the encoder that made the vectors of most documents, None without vectors."""
        by_encoder = self._read()
        if len(by_encoder) <= 1:
            return next(iter(by_encoder), None)
        documents = Counter(
            {
                encoder: count(
                    self._cluster, self._cluster.documents_alias, {"terms": {"enriched": [*marks]}}
                )
                for encoder, marks in by_encoder.items()
            }
        )
        return find_main_encoder(documents)

    def _read(self, *, anew: bool = False) -> dict[str, dict[str, str]]:
        now = time.monotonic()
        if anew or now - self._read_at >= MAX_AGE:
            by_encoder: dict[str, dict[str, str]] = {}
            for load in meta.searchable_loads(self._cluster):
                for recipe in map(Recipe.from_dict, load.recipes.values()):
                    if VECTORS in recipe.parts:
                        marks = by_encoder.setdefault(recipe.versions["encoder"], {})
                        marks[recipe.fingerprints[VECTORS]] = recipe.versions.get(TABLE, "")
            self._has_graph = bool(by_encoder) and self._find_graphs()
            self._fingerprints, self._options, self._read_at = by_encoder, None, now
        return self._fingerprints

    def _find_graphs(self) -> bool:
        with self._cluster.translate_errors():
            answer = self._cluster.client.indices.get_mapping(index=self._cluster.alias)
        fields = [field for of in answer.values() for field in _vector_fields(of["mappings"]).values()]
        kinds = {field.get("index_options", {}).get("type") for field in fields}
        return kinds == {GRAPH["type"]}
