from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing

import pytest

from esr.elastic.cluster import Cluster
from esr.elastic.vectors import encode_vector, map_vectors, source_with_vectors
from esr.text.document import QuantizedVector
from tests.support.elasticsearch import http

pytestmark = pytest.mark.elasticsearch

SENTENCES, DIMENSIONS = 300, 384


@pytest.fixture
def cluster(where: str) -> Iterator[Cluster]:
    """An alias under which there is an index without vectors."""
    http("PUT", where, {"mappings": {"properties": {"text": {"type": "text"}}}})
    with closing(Cluster(where)) as cluster:
        yield cluster


def draw_vectors(number: int) -> list[QuantizedVector]:
    draw = random.Random(1)
    return [
        QuantizedVector(bytes(draw.randrange(256) for _ in range(DIMENSIONS)), 0.5) for _ in range(number)
    ]


def store(cluster: Cluster, vectors: list[QuantizedVector]) -> None:
    map_vectors(cluster, [cluster.alias], DIMENSIONS)
    for number, vector in enumerate(vectors):
        cluster.client.index(index=cluster.alias, id=str(number), document={"vectors": encode_vector(vector)})


def test_vectors_are_stored_once(where: str, cluster: Cluster) -> None:
    store(cluster, draw_vectors(SENTENCES))
    answer = http("POST", f"{where}/_disk_usage?run_expensive_tasks=true&flush=true")
    fields = answer[cluster.alias]["fields"]
    assert fields["vectors.d384"]["total_in_bytes"] >= SENTENCES * DIMENSIONS
    assert fields["_source"]["total_in_bytes"] < SENTENCES * DIMENSIONS / 4


def test_an_update_of_another_field_keeps_the_vector(where: str, cluster: Cluster) -> None:
    (vector,) = draw_vectors(1)
    store(cluster, [vector])
    http("POST", f"{where}/_update/0?refresh=true", {"doc": {"text": "storm"}})
    answer = cluster.client.search(index=cluster.alias, source=source_with_vectors(cluster, ["vectors"]))
    (hit,) = answer["hits"]["hits"]
    assert hit["_source"]["vectors"] == encode_vector(vector)


def test_fields_that_are_mapped_already_stay_as_they_are(where: str, cluster: Cluster) -> None:
    older = {"type": "dense_vector", "element_type": "byte", "dims": 3, "index": False}
    http("PUT", f"{where}/_mapping", {"properties": {"vectors": {"properties": {"d3": older}}}})
    map_vectors(cluster, [cluster.alias], 3)
    fields = http("GET", f"{where}/_mapping")[cluster.alias]["mappings"]["properties"]["vectors"][
        "properties"
    ]
    assert (fields["d3"]["index"], fields["scale"]["type"]) == (False, "float")
