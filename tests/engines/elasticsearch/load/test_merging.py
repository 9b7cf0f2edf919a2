"""The segments of a load are merged before it is served."""

from __future__ import annotations

from contextlib import closing

import pytest
from elastic_transport import ConnectionTimeout

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.load import merging
from esr.engines.elasticsearch.store import meta
from tests.support.elasticsearch import document, http, load

pytestmark = pytest.mark.elasticsearch


def count_segments(url: str, index: str) -> list[int]:
    """The segments of each shard of an index."""
    (shards,) = [
        of_index["shards"] for of_index in http("GET", f"{url}/{index}/_segments")["indices"].values()
    ]
    return sorted(
        len(copy["segments"]) for copies in shards.values() for copy in copies if copy["routing"]["primary"]
    )


def make_segments(url: str, index: str, count: int) -> None:
    """Update an entry as often as that, and make each of them a segment."""
    for number in range(count):
        http("POST", f"{url}/{index}/_update_by_query?refresh=true", {"query": {"term": {"ordinal": number}}})


@pytest.mark.parametrize("largest, expected", [(merging.LARGEST_SEGMENT, 1), (1, 4)])
def test_segments_up_to_the_largest_size_become_one(
    where: str, elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch, largest: int, expected: int
) -> None:
    load(where, [document("d", "one", "two", "three", "four")])
    with closing(Cluster(where)) as cluster:
        (served,) = meta.searchable_loads(cluster)
        make_segments(elasticsearch_url, served.index, 3)
        assert count_segments(elasticsearch_url, served.index) == [4]
        monkeypatch.setattr(merging, "LARGEST_SEGMENT", largest)
        assert merging.merge_segments(cluster, served.index) == []
        http("POST", f"{elasticsearch_url}/{served.index}/_refresh")
        assert count_segments(elasticsearch_url, served.index) == [expected]


def test_replicas_are_no_shards_among_which_the_bytes_are_divided(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(where, [document("d", "one", "two")])
    with closing(Cluster(where)) as cluster:
        (served,) = meta.searchable_loads(cluster)
        primaries = {"docs": {"count": 1000}, "store": {"size_in_bytes": 4 * merging.LARGEST_SEGMENT}}
        stats = {"_shards": {"successful": 2}, "_all": {"primaries": primaries}}
        monkeypatch.setattr(cluster.client.indices, "stats", lambda **request: stats)
        assert merging._segments_per_shard(cluster, served.index) == 4


@pytest.mark.parametrize(
    "processors, smallest, shards, expected",
    [
        ([2], 4, 1, [2]),
        ([8], 4, 1, [3]),
        ([8, 2], 4, 1, [2]),
        ([1], 4, 1, [1]),
        ([2], 1, 2, [1, 1]),
    ],
)
def test_a_large_shard_keeps_a_segment_for_each_processor(
    where: str,
    elasticsearch_url: str,
    monkeypatch: pytest.MonkeyPatch,
    processors: list[int],
    smallest: int,
    shards: int,
    expected: list[int],
) -> None:
    """Twelve sentences have three parts of four: more processors would find nothing to do."""
    load(where, [document(f"d{n}", "one", "two") for n in range(6)], shards=shards)
    monkeypatch.setattr(merging, "SMALLEST_PART", smallest)
    monkeypatch.setattr(merging, "_data_processors", lambda cluster: processors)
    with closing(Cluster(where)) as cluster:
        (served,) = meta.searchable_loads(cluster)
        make_segments(elasticsearch_url, served.index, 4)
        assert merging.merge_segments(cluster, served.index) == []
        http("POST", f"{elasticsearch_url}/{served.index}/_refresh")
        assert count_segments(elasticsearch_url, served.index) == expected


def test_the_processors_are_those_of_the_nodes_with_data(where: str, elasticsearch_url: str) -> None:
    nodes = http("GET", f"{elasticsearch_url}/_nodes/os")["nodes"].values()
    with closing(Cluster(where)) as cluster:
        assert merging._data_processors(cluster) == [node["os"]["allocated_processors"] for node in nodes]


def test_a_load_merges_if_it_is_told_to(
    where: str, elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged: list[str] = []
    merge = merging.merge_segments

    def record(cluster: Cluster, index: str) -> list[str]:
        assert not meta.aliased_loads(cluster), "it is served only afterwards"
        merged.append(index)
        return merge(cluster, index)

    monkeypatch.setattr("esr.engines.elasticsearch.load.writer.merge_segments", record)
    report = load(where, [document(f"d{n}", "one", "two") for n in range(50)], merge=True, shards=2)
    assert report.notes == []
    (index,) = merged
    assert count_segments(elasticsearch_url, index) == [1, 1]
    load(where, [document("d", "one")], if_exists="replace")
    assert merged == [index]


def test_what_cannot_be_merged_is_told_and_stays(where: str) -> None:
    with closing(Cluster(where)) as cluster:
        (note,) = merging.merge_segments(cluster, "no-such-index")
    assert note.startswith("searches may be slower until Elasticsearch has merged the segments: ")


def test_a_merge_that_outlasts_its_request_is_waited_for(
    where: str, elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(where, [document("d", "one", "two", "three")])
    left = [True, True, False, False]
    is_merging = merging._is_merging
    monkeypatch.setattr(
        merging, "_is_merging", lambda cluster, index: left.pop(0) or is_merging(cluster, index)
    )
    monkeypatch.setattr(merging, "_POLL_SECONDS", 0.0)
    with closing(Cluster(where)) as cluster:
        (served,) = meta.searchable_loads(cluster)

        def time_out(*_: object, **__: object) -> None:
            raise ConnectionTimeout("too long")

        monkeypatch.setattr(type(cluster.client.indices), "forcemerge", time_out)
        assert merging.merge_segments(cluster, served.index) == []
    assert left == []
