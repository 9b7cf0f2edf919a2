"""Loads into a real Elasticsearch: all or nothing, even when the loader is killed.

The segments of a load are merged before it is served.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError

import pytest
from elastic_transport import ConnectionTimeout

from esr import resources
from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.location import documents_index
from esr.elastic.write import spool, verification, writer
from esr.elastic.write.actions import (
    elasticsearch_date,
)
from esr.elastic.write.load_owner import LoadOwner, read_start, this_process
from esr.elastic.write.spool import RESERVE, Room, check_room, find_room, watch_room
from esr.elastic.write.verification import IndexContents, verify
from esr.errors import EngineUnreachable, EsrError, IndexMissing, IndexUnusable, InputError, UsageError
from esr.index.factory import open_generations, open_writer
from esr.index.writer import Description, LoadOptions
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Sentence
from tests.support.elasticsearch import (
    all_indices,
    document,
    http,
    index_settings,
    load,
    located,
)

OLD = [document("old", "An old flood.", "A river.")]
NEW = [document("new", "A new flood.", "Another flood."), document("more", "Relief came.")]


def split(where: str) -> tuple[str, str]:
    url, _, alias = where.rpartition("/")
    return url, alias


def search_ids(where: str, query: str = "flood river relief") -> set[str]:
    """The ids of the sentences that a search returns."""
    with open_searcher(where) as searcher:
        return {hit.sentence_id for hit in searcher.search(query, 1000, candidates="all").hits}


@pytest.mark.parametrize("said, expected", [(None, "lean"), ("fast", "fast")])
def test_an_appending_load_has_the_profile_of_the_index_unless_another_is_said(
    monkeypatch: pytest.MonkeyPatch, said: str | None, expected: str
) -> None:
    created: list[str | None] = []
    description = Description("plain", True)
    load = writer.ElasticsearchWriter(
        "http://localhost:1/news", description, LoadOptions(profile=said), append=True
    )
    settings = {"index.sort.field": ["ordinal"], "index.codec": "best_compression"}
    indices = SimpleNamespace(get_settings=lambda index, **_: {index: {"settings": settings}})
    monkeypatch.setattr(Cluster, "client", SimpleNamespace(indices=indices))
    monkeypatch.setattr(meta, "newest_generation", lambda cluster: "")
    monkeypatch.setattr(meta, "with_aliases", lambda cluster, load: load)
    monkeypatch.setattr(writer, "create_indices", lambda c, load, options: created.append(options.profile))
    load.create_load(["served"], writer.LoadTarget(description, {}, {}))
    assert created == [expected]


def test_nothing_is_visible_before_the_alias_moves(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load(where, OLD)
    visible = []
    switch = writer.ElasticsearchWriter.switch

    def record(self: Any, load: Any) -> None:
        visible.append(search_ids(where))
        assert len(all_indices(where)) == 4, "the new indices are complete, beside the old ones"
        switch(self, load)

    monkeypatch.setattr(writer.ElasticsearchWriter, "switch", record)
    load(where, NEW, if_exists="replace")
    assert visible == [{"old.s0", "old.s1"}]
    assert search_ids(where) == {"new.s0", "new.s1", "more.s0"}


def test_an_existing_index_is_appended_to_or_replaced_only_on_request(where: str) -> None:
    with pytest.raises(IndexMissing, match="make one with esr load"):
        open_searcher(where)
    load(where, OLD, if_exists="append")
    with pytest.raises(UsageError, match="--if-exists replace or --if-exists append"):
        load(where, NEW)
    assert search_ids(where) == {"old.s0", "old.s1"}
    report = load(where, [*OLD, *NEW], if_exists="append")
    assert (report.documents, report.sentences, report.unchanged) == (3, 3, 1)
    assert search_ids(where) == {"old.s0", "old.s1", "new.s0", "new.s1", "more.s0"}
    report = load(where, NEW, if_exists="append")
    assert (report.unchanged, report.sentences) == (2, 0)
    assert len(all_indices(where)) == 4, "a load without new documents creates no index"
    before = all_indices(where)
    report = load(where, OLD, if_exists="replace")
    assert search_ids(where) == {"old.s0", "old.s1"}
    assert set(before) < set(all_indices(where)), "the load before is kept"
    (note,) = report.notes
    assert note.split()[1] in before[-1] and "esr rollback" in note


def test_append_uses_the_analyzer_of_the_index(where: str) -> None:
    load(where, OLD, analyzer="plain", title=False)
    with pytest.raises(UsageError, match="--analyzer plain"):
        load(where, NEW, analyzer="english", if_exists="append")
    with pytest.raises(UsageError, match="--no-title"):
        load(where, NEW, title=True, if_exists="append")
    load(where, NEW, if_exists="append")
    with open_searcher(where) as searcher:
        assert searcher.index.description.analyzer == "plain"


def test_a_changed_document_cannot_be_appended(where: str) -> None:
    load(where, OLD)
    before = all_indices(where)
    with pytest.raises(InputError, match="old") as raised:
        load(where, [*NEW, document("old", "Another text.")], if_exists="append")
    assert raised.value.where == "test:3"
    assert (all_indices(where), search_ids(where)) == (before, {"old.s0", "old.s1"})


def rejected_by_elasticsearch() -> Iterator[Document]:
    yield from NEW
    # A name with an empty part in the middle: valid for esr, but not for Elasticsearch.
    yield Document("rejected", (Sentence("rejected.s0", "A flood.", {"a..b": 1.0}),))


def duplicate() -> Iterator[Document]:
    yield from [*NEW, NEW[0]]


def broken_source() -> Iterator[Document]:
    yield NEW[0]
    raise InputError("news.jsonl:2", "not JSON")


@pytest.mark.parametrize(
    "documents, message",
    [
        (
            rejected_by_elasticsearch,
            "1 document was rejected, nothing was switched: Elasticsearch rejected rejected.s0",
        ),
        (duplicate, "new"),
        (broken_source, "jsonl:2"),
    ],
)
def test_a_failed_load_leaves_nothing(where: str, documents: Any, message: str) -> None:
    load(where, OLD)
    before = all_indices(where)
    with pytest.raises(EsrError, match=message):
        load(where, documents(), if_exists="replace")
    assert all_indices(where) == before
    assert search_ids(where) == {"old.s0", "old.s1"}


def test_a_rejected_switch_leaves_nothing(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index disappears just before the switch."""
    load(where, OLD)
    switch = writer.ElasticsearchWriter.switch

    def delete_and_switch(self: Any, load: Any) -> None:
        http("DELETE", f"{split(where)[0]}/{load.documents_index}")
        switch(self, load)

    monkeypatch.setattr(writer.ElasticsearchWriter, "switch", delete_and_switch)
    before = all_indices(where)
    with pytest.raises(EsrError):
        load(where, NEW, if_exists="replace")
    assert all_indices(where) == before
    assert search_ids(where) == {"old.s0", "old.s1"}


def _delete(url: str, index: str) -> None:
    http("DELETE", f"{url}/{index}/_doc/new.s1")


def _add(url: str, index: str) -> None:
    body = {"document_id": "x", "ordinal": 9}
    http("PUT", f"{url}/{documents_index(index)}/_doc/x", body)


def _change(url: str, index: str) -> None:
    body = {"doc": {"checksum": "0" * 32}}
    http("POST", f"{url}/{documents_index(index)}/_update/new", body)


@pytest.mark.parametrize(
    "harm, message",
    [
        (_delete, "2 entries instead of 3, nothing was switched"),
        (_add, "3 entries instead of 2, nothing was switched"),
        (_change, "differ from those that were sent, nothing was switched"),
    ],
)
def test_what_arrived_is_compared_with_what_was_sent(
    where: str, monkeypatch: pytest.MonkeyPatch, harm: Any, message: str
) -> None:
    url, _ = split(where)
    verify = writer.verify

    def harm_and_verify(cluster: Any, indices: Any, expected: Any) -> None:
        harm(url, indices[0])
        verify(cluster, indices, expected)

    monkeypatch.setattr(writer, "verify", harm_and_verify)
    monkeypatch.setattr(verification, "PAUSES", (0.01, 0.02, 0.04))
    with pytest.raises(EsrError, match=message):
        load(where, NEW)
    assert all_indices(where) == []


def test_the_load_of_another_process_is_left_alone(where: str) -> None:
    """An unfinished load is not deleted if its process is alive or of another machine."""
    load(where, OLD)
    url, alias = split(where)
    names = [f"{alias}-20250101t00000000000{number}-esr-sentences" for number in (0, 1)]
    parent = LoadOwner.parse(this_process())._replace(
        process_id=os.getppid(), started=read_start(os.getppid())
    )
    for number, loader in enumerate(["elsewhere", str(parent)]):
        meta = {"esr": {"format": 1, "complete": False, "owner": loader, "analyzer": "plain", "title": True}}
        http("PUT", f"{url}/{names[number]}", {"mappings": {"_meta": meta}})
    load(where, NEW, if_exists="append")
    assert set(names) < set(all_indices(where))
    with closing(open_generations(where)) as at:
        generations = {generation.name: generation for generation in at.all()}
        assert [generations[f"20250101t00000000000{n}"].host for n in (0, 1)] == ["elsewhere", ""]
        with pytest.raises(UsageError, match="stop the load, or wait for its end"):
            at.delete(["20250101t000000000001"])
        at.delete(["20250101t000000000000"])


def test_an_alias_with_the_same_beginning_is_another_one(where: str) -> None:
    load(where, OLD)
    load(f"{where}-de", NEW)
    load(f"{where}-de", OLD, if_exists="replace")
    load(where, NEW, if_exists="replace", keep=0)
    with closing(open_generations(where)) as at, closing(open_generations(f"{where}-de")) as other:
        assert (len(at.all()), len(other.all())) == (1, 2)
        at.delete_all()
        assert len(other.all()) == 2


def test_an_index_with_the_name_of_the_alias(where: str) -> None:
    http("PUT", where)
    for call in (lambda: load(where, NEW, if_exists="replace"), lambda: open_searcher(where)):
        with pytest.raises(IndexUnusable, match="esr"):
            call()
    assert len(all_indices(where)) == 1


def test_an_index_with_the_name_of_the_documents_alias(where: str) -> None:
    http("PUT", f"{where}-documents")
    with pytest.raises(IndexUnusable, match="-documents is an index, but esr needs its name for an alias"):
        load(where, NEW)
    assert len(all_indices(where)) == 1


def test_an_alias_of_something_else_is_refused(where: str) -> None:
    url, alias = split(where)
    http("PUT", f"{url}/{alias}-mine", {"aliases": {alias: {}}})
    for call in (lambda: load(where, NEW, if_exists="replace"), lambda: open_searcher(where)):
        with pytest.raises(IndexUnusable, match="-mine', which is not an index of sentences made by esr"):
            call()
    assert all_indices(where) == [f"{alias}-mine"]


def test_the_documents_alias_is_not_a_location(where: str) -> None:
    load(where, OLD)
    for call in (
        lambda: load(f"{where}-documents", NEW, if_exists="replace"),
        lambda: open_searcher(f"{where}-documents"),
    ):
        with pytest.raises(IndexUnusable, match="not an index of sentences"):
            call()
    assert search_ids(where) == {"old.s0", "old.s1"}


def test_an_index_of_another_format_is_refused(where: str) -> None:
    load(where, OLD)
    url, _ = split(where)
    index = next(name for name in all_indices(where) if name.endswith("sentences"))
    meta = http("GET", f"{url}/{index}/_mapping")[index]["mappings"]["_meta"]
    meta["esr"]["format"] = 99
    http("PUT", f"{url}/{index}/_mapping", {"_meta": meta})
    with pytest.raises(IndexUnusable, match="index format 99"):
        open_searcher(where)


@pytest.mark.parametrize("side", ["sentences", "documents"])
def test_the_mapping_is_strict(where: str, side: str) -> None:
    load(where, OLD)
    url, _ = split(where)
    index = next(name for name in all_indices(where) if name.endswith(side))
    with pytest.raises(HTTPError) as raised:
        http("POST", f"{url}/{index}/_doc", {"unheard": 1})
    assert raised.value.code == 400
    assert "strict_dynamic_mapping_exception" in raised.value.read().decode()


def test_a_load_makes_as_many_shards_as_it_is_told(where: str) -> None:
    load(where, OLD, shards=3)
    assert [settings["number_of_shards"] for settings in index_settings(where)] == ["3"]


@pytest.mark.parametrize("few", [10_000, 1])
def test_the_indices_of_a_large_load_have_their_usual_settings_once_they_are_filled(
    where: str, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    names = ("index.refresh_interval", "index.merge.scheduler.auto_throttle")
    url, alias = split(where)
    monkeypatch.setattr(writer, "FEW_SENTENCES", few)
    noted: list[list[str]] = []

    def note_settings(*_: object) -> None:
        answer = http("GET", f"{url}/{alias}-*/_settings/{','.join(names)}?flat_settings=true")
        noted.extend(
            [each["settings"][name] for name in names] for each in answer.values() if each["settings"]
        )

    load(where, OLD, on_progress=note_settings)
    assert noted == ([["-1", "false"]] * 2 if few == 1 else [])
    noted.clear()
    note_settings()
    assert noted == []


def test_settings_that_elasticsearch_rejects_are_named(where: str) -> None:
    with pytest.raises(EsrError, match=r"answered 400: .*number_of_shards"):
        load(where, OLD, shards=2000)
    assert all_indices(where) == []


def test_a_load_whose_second_index_is_rejected_leaves_no_first_one(where: str) -> None:
    url, alias = split(where)
    other = deepcopy(resources.load_json("indices/esr-documents.json"))
    other |= {"index_patterns": [f"{alias}-*-esr-documents"], "priority": 900}
    other["template"] = {"settings": {"index.number_of_routing_shards": 3}}
    http("PUT", f"{url}/_index_template/{alias}", other)
    try:
        with pytest.raises(EsrError, match=r"answered 400: .*must be a factor of"):
            load(where, OLD, shards=2)
    finally:
        http("DELETE", f"{url}/_index_template/{alias}")
    assert all_indices(where) == []


def test_a_load_without_sentences_can_be_searched_in_vain(where: str) -> None:
    """Documents without a sentence are counted, and can be searched in vain."""
    report = load(where, [document("empty")])
    assert (report.documents, report.without_sentences) == (1, 1)
    with open_searcher(where) as searcher:
        assert searcher.search("flood", candidates="all").hits == []


def test_dates_are_converted_only_where_elasticsearch_cannot_read_them() -> None:
    assert elasticsearch_date("2017-02-28") == "2017-02-28"
    assert elasticsearch_date("2017-02-28T10:00:00Z") == "2017-02-28T10:00:00Z"
    assert elasticsearch_date("2017-02-28T10:00+14:00") == "2017-02-28T10:00+14:00"
    assert elasticsearch_date("2017-02-28T10:00+19:00") == "2017-02-27T15:00:00Z"
    assert elasticsearch_date("2017-02-28T10:00:00-05:60") == "2017-02-28T16:00:00Z"


def test_elasticsearch_is_unreachable(tmp_path: Path) -> None:
    with pytest.raises(EngineUnreachable, match=r"cannot reach Elasticsearch at http://127\.0\.0\.1:9"):
        open_writer("http://127.0.0.1:9/news", LoadOptions()).load(located(NEW))


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


@pytest.mark.elasticsearch
@pytest.mark.parametrize("largest, expected", [(writer.LARGEST_SEGMENT, 1), (1, 4)])
def test_segments_up_to_the_largest_size_become_one(
    where: str, elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch, largest: int, expected: int
) -> None:
    monkeypatch.setattr(writer, "FEW_SENTENCES", 0)  # without a refresh amid the load, it is one segment
    load(where, [document("d", "one", "two", "three", "four")])
    with closing(Cluster(where)) as cluster:
        (served,) = meta.searchable_loads(cluster)
        make_segments(elasticsearch_url, served.index, 3)
        assert count_segments(elasticsearch_url, served.index) == [4]
        monkeypatch.setattr(writer, "LARGEST_SEGMENT", largest)
        assert writer.merge_segments(cluster, served.index) == []
        http("POST", f"{elasticsearch_url}/{served.index}/_refresh")
        assert count_segments(elasticsearch_url, served.index) == [expected]


@pytest.mark.elasticsearch
def test_replicas_are_no_shards_among_which_the_bytes_are_divided(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(where, [document("d", "one", "two")])
    with closing(Cluster(where)) as cluster:
        (served,) = meta.searchable_loads(cluster)
        primaries = {"docs": {"count": 1000}, "store": {"size_in_bytes": 4 * writer.LARGEST_SEGMENT}}
        stats = {"_shards": {"successful": 2}, "_all": {"primaries": primaries}}
        monkeypatch.setattr(cluster.client.indices, "stats", lambda **request: stats)
        assert writer.segments_per_shard(cluster, served.index) == 4


@pytest.mark.elasticsearch
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
    monkeypatch.setattr(writer, "SMALLEST_PART", smallest)
    monkeypatch.setattr(writer, "read_data_processors", lambda cluster: processors)
    with closing(Cluster(where)) as cluster:
        (served,) = meta.searchable_loads(cluster)
        make_segments(elasticsearch_url, served.index, 4)
        assert writer.merge_segments(cluster, served.index) == []
        http("POST", f"{elasticsearch_url}/{served.index}/_refresh")
        assert count_segments(elasticsearch_url, served.index) == expected


@pytest.mark.elasticsearch
def test_the_processors_are_those_of_the_nodes_with_data(where: str, elasticsearch_url: str) -> None:
    nodes = http("GET", f"{elasticsearch_url}/_nodes/os")["nodes"].values()
    with closing(Cluster(where)) as cluster:
        assert writer.read_data_processors(cluster) == [node["os"]["allocated_processors"] for node in nodes]


@pytest.mark.elasticsearch
def test_a_load_merges_if_it_is_told_to(
    where: str, elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    merged: list[str] = []
    merge = writer.merge_segments

    def record(cluster: Cluster, index: str) -> list[str]:
        assert not meta.aliased_loads(cluster), "it is served only afterwards"
        merged.append(index)
        return merge(cluster, index)

    monkeypatch.setattr("esr.elastic.write.writer.merge_segments", record)
    report = load(where, [document(f"d{n}", "one", "two") for n in range(50)], merge=True, shards=2)
    assert report.notes == []
    (index,) = merged
    assert count_segments(elasticsearch_url, index) == [1, 1]
    load(where, [document("d", "one")], if_exists="replace")
    assert merged == [index]


@pytest.mark.elasticsearch
def test_what_cannot_be_merged_is_told_and_stays(where: str) -> None:
    with closing(Cluster(where)) as cluster:
        (note,) = writer.merge_segments(cluster, "no-such-index")
    assert note.startswith("searches may be slower until Elasticsearch has merged the segments: ")


@pytest.mark.elasticsearch
def test_a_merge_that_outlasts_its_request_is_waited_for(
    where: str, elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(where, [document("d", "one", "two", "three")])
    left = [True, True, False, False]
    is_merging = writer.is_merging
    monkeypatch.setattr(
        writer, "is_merging", lambda cluster, index: left.pop(0) or is_merging(cluster, index)
    )
    monkeypatch.setattr(writer, "POLL_SECONDS", 0.0)
    with closing(Cluster(where)) as cluster:
        (served,) = meta.searchable_loads(cluster)

        def time_out(*_: object, **__: object) -> None:
            raise ConnectionTimeout("too long")

        monkeypatch.setattr(type(cluster.client.indices), "forcemerge", time_out)
        assert writer.merge_segments(cluster, served.index) == []
    assert left == []


# A load that has no room for its spool says so, before it begins or before it is killed.


MB = 10**6
DOCUMENTS = [document(f"d{n}", "A flood.") for n in range(1200)]


def test_a_text_that_cannot_fit_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "find_room", lambda folder: Room(300 * MB, False))
    check_room(tmp_path, 599 * MB)
    with pytest.raises(EsrError, match=r"has 300 MB left, and this load needs at least 301 MB.*Set TMPDIR"):
        check_room(tmp_path, 602 * MB)


def test_memory_that_runs_out_ends_the_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = iter([Room(RESERVE * 2, True), Room(RESERVE, True), Room(RESERVE - 1, True)])
    monkeypatch.setattr(spool, "find_room", lambda folder: next(rooms))
    with pytest.raises(EsrError, match=r"is in memory and has 67 MB left, and after 1,000 documents"):
        list(watch_room(tmp_path, located(DOCUMENTS)))


def test_a_disk_is_not_watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says itself when it is full, and nobody is killed for it."""
    monkeypatch.setattr(spool, "find_room", lambda folder: Room(1, False))
    assert len(list(watch_room(tmp_path, located(DOCUMENTS)))) == len(DOCUMENTS)


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({"memory.max": "1000", "memory.stat": "anon 300\nfile 600\nshmem 200"}, 500),
        ({"memory.max": "max", "memory.stat": "anon 300\nshmem 200"}, 4096),
        (
            {"memory/memory.limit_in_bytes": "1000", "memory/memory.stat": "total_rss 100\ntotal_shmem 150"},
            750,
        ),
        ({}, 4096),
    ],
)
def test_files_in_memory_count_towards_the_limit_of_a_container(
    files: dict[str, str], free: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text + "\n")
    (tmp_path / "mounts").write_text(f"disk / ext4 rw 0 0\ntmpfs {tmp_path} tmpfs rw 0 0\n")
    monkeypatch.setattr(spool, "CGROUPS", tmp_path)
    monkeypatch.setattr(spool, "MOUNTS", tmp_path / "mounts")
    monkeypatch.setattr(os, "statvfs", lambda folder: SimpleNamespace(f_bavail=1, f_frsize=4096))
    assert find_room(tmp_path) == Room(free, True)
    assert find_room(tmp_path.parent) == Room(4096, False)


# When contents are checked again. They are made up: tests/index/test_chaos.py freezes real nodes.


EXPECTED = IndexContents(documents=2, sentences=3, sum=7)


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    monkeypatch.setattr(verification, "PAUSES", (0.0, 0.0))
    cluster = Cluster("http://localhost:9200/news")
    cluster.close()
    return cluster


def answer_with(monkeypatch: pytest.MonkeyPatch, *answers: IndexContents) -> list[IndexContents]:
    """Makes these the contents of one check after another. Returns those that are left."""
    left = list(answers)

    def contents(*_: Any) -> IndexContents:
        return left.pop(0)

    monkeypatch.setattr(verification, "read_contents", contents)
    return left


def test_a_difference_is_checked_again_since_a_node_may_be_out_of_date(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, older = (
        IndexContents(documents=1, sentences=3, sum=3),
        IndexContents(documents=2, sentences=1, sum=7),
    )
    left = answer_with(monkeypatch, older, old, EXPECTED)
    verify(cluster, ["news-1"], EXPECTED)
    assert not left


def test_a_difference_that_remains_is_an_error(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    old = IndexContents(documents=1, sentences=3, sum=3)
    left = answer_with(monkeypatch, old, old, old, EXPECTED)
    with pytest.raises(EsrError, match="1 entries instead of 2, nothing was switched"):
        verify(cluster, ["news-1"], EXPECTED)
    assert left == [EXPECTED]
