"""`append` and `remove` on both engines: the index becomes as if it had been loaded with its documents."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from esr.errors import EsrError, IndexMissing, InputError
from esr.folder.format import manifest, snapshot
from esr.folder.format.manifest import SEGMENTS
from esr.folder.format.segment import Segment
from esr.folder.write import segment_writer
from esr.index.contract import Index
from esr.index.factory import open_delivery, open_generations, open_writer
from esr.index.questions import EvidenceOf, Features, Records
from esr.index.writer import DeliveryReport, LoadOptions
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Located, Sentence
from tests.index.test_generations import run
from tests.index.test_parity import random_documents
from tests.support.elasticsearch import document as bare_document
from tests.support.elasticsearch import fresh, load, located
from tests.support.fake_enricher import FakeEnricher
from tests.support.index_contents import documents, enrich, expected, index_contents, read_enrichment

pytestmark = pytest.mark.slow


FIRST = list(random_documents(0, 30, seed=1))


def append(where: str, documents: list[Document], **options: int) -> DeliveryReport:
    return open_delivery(where, LoadOptions(**options)).append(located(documents))


def remove(where: str, *ids: str) -> DeliveryReport:
    return open_delivery(where, LoadOptions()).remove(ids)


def counts(report: DeliveryReport) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.unchanged, report.removed


def enriched(index: Index, documents: list[Document]) -> dict[str, object]:
    """The enrichment of these documents."""
    return {
        name: enrichment
        for document in documents
        for name, enrichment in expected(FakeEnricher(), document, index.analyzer).items()
    }


def assert_equals_fresh_load(where: str, expected: list[Document], tmp_path: Path) -> None:
    """Compare with a fresh load on the same engine; Elasticsearch keeps the priors of each load."""
    embedded = not where.startswith("http")
    if embedded:
        other = str(tmp_path / "other")
        load(other, expected)
        assert index_contents(where) == index_contents(other)
    else:
        with fresh(where.rpartition("/")[0]) as other:
            load(other, expected)
            assert index_contents(where, priors=False) == index_contents(other, priors=False)


def changed(document: Document, *texts: str) -> Document:
    """The same document with other sentences."""
    return Document(
        document.id, tuple(Sentence(f"{document.id}/new{n}", text) for n, text in enumerate(texts))
    )


def test_new_documents_are_added_changed_ones_replaced_and_unchanged_ones_skipped(
    anywhere: str, tmp_path: Path
) -> None:
    load(anywhere, FIRST)
    added_documents = list(random_documents(30, 5, seed=2))
    other = [changed(FIRST[5], "A flood.", "Bank of the river."), replace(FIRST[10], title="Rare titleword")]
    delivered = [FIRST[4], other[0], *added_documents, FIRST[11], other[1]]
    report = append(anywhere, delivered)
    assert counts(report) == (5, 2, 2, 0)
    remaining = [d for d in FIRST if d.id not in (other[0].id, other[1].id)]
    expected_documents = [*remaining, other[0], *added_documents, other[1]]
    assert documents(anywhere) == expected_documents
    assert_equals_fresh_load(anywhere, expected_documents, tmp_path)


def test_a_repeated_delivery_changes_nothing(anywhere: str) -> None:
    load(anywhere, FIRST)
    delivered = [*random_documents(30, 3, seed=2), changed(FIRST[4], "New.")]
    append(anywhere, delivered)
    before = read_generations(anywhere)
    assert counts(append(anywhere, delivered)) == (0, 0, 4, 0)
    assert read_generations(anywhere) == before


def read_generations(where: str) -> list[dict[str, Any]]:
    """All but the bytes, which a server may merge into fewer at any time."""
    with closing(open_generations(where)) as opened:
        return [{**each.as_dict(), "size_bytes": None} for each in opened.all()]


def test_removed_documents_are_gone_with_all_their_sentences(anywhere: str, tmp_path: Path) -> None:
    load(anywhere, FIRST)
    report = remove(anywhere, "r3", "r29", "unheard", "r3", "r4")
    assert (counts(report), report.missing) == ((0, 0, 0, 3), ["unheard"])
    expected_documents = [d for d in FIRST if d.id not in ("r3", "r4", "r29")]
    assert_equals_fresh_load(anywhere, expected_documents, tmp_path)
    assert counts(remove(anywhere, "r3")) == (0, 0, 0, 0)
    append(anywhere, [FIRST[3]])
    assert documents(anywhere) == [*expected_documents, FIRST[3]]


def test_an_index_after_many_deliveries_equals_one_loaded_at_once(
    anywhere: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With small segments: some are merged, some lose documents, some stay."""
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 700)
    expected_documents = list(FIRST)
    load(anywhere, expected_documents)
    for day in range(4):
        delivered = [
            *random_documents(40 + 4 * day, 4, seed=day),
            replace(expected_documents[7 * day % len(expected_documents)], source=f"{day}"),
        ]
        append(anywhere, delivered)
        removed = expected_documents[3].id
        remove(anywhere, removed)
        delivered_ids = {d.id for d in delivered}
        expected_documents = [d for d in expected_documents if d.id not in delivered_ids] + delivered
        expected_documents = [d for d in expected_documents if d.id != removed]
    assert_equals_fresh_load(anywhere, expected_documents, tmp_path)


def test_a_delivery_can_be_rolled_back(anywhere: str) -> None:
    load(anywhere, FIRST)
    append(anywhere, [changed(FIRST[5], "Other.")])
    with closing(open_generations(anywhere)) as generations:
        assert [generation.state for generation in generations.all()] == ["serving", "kept"]
        generations.rollback()
    assert documents(anywhere) == FIRST
    with closing(open_generations(anywhere)) as generations:
        generations.delete([generations.all()[0].name])
    assert documents(anywhere) == FIRST


def test_an_open_index_sees_all_of_a_delivery_or_nothing(anywhere: str) -> None:
    load(anywhere, FIRST)
    observations = []

    def watching() -> Iterator[Located]:
        for located_document in located([changed(FIRST[5], "Other."), bare_document("last", "A flood.")]):
            observations.append(documents(anywhere) == FIRST)
            yield located_document

    open_delivery(anywhere, LoadOptions()).append(watching())
    assert observations == [True, True]


def test_a_failed_delivery_changes_nothing(anywhere: str) -> None:
    load(anywhere, FIRST)

    def broken() -> Iterator[Located]:
        yield from located([changed(FIRST[5], "Other.")])
        raise InputError("news.jsonl:2", "not JSON")

    with pytest.raises(InputError, match="not JSON"):
        open_delivery(anywhere, LoadOptions()).append(broken())
    for delivered in (
        [bare_document("a", "One."), bare_document("a", "Two.")],
        [Document("a", (Sentence("r5/0", "Taken."),))],
    ):
        with pytest.raises(InputError):
            append(anywhere, delivered)
    assert documents(anywhere) == FIRST
    with closing(open_generations(anywhere)) as generations:
        assert [generation.state for generation in generations.all()] == ["serving"]


def test_a_sentence_id_may_move_to_another_document_of_the_delivery(anywhere: str) -> None:
    load(anywhere, FIRST)
    append(anywhere, [Document("a", (Sentence("r5/0", "Moved."),)), changed(FIRST[5], "Other.")])
    with open_searcher(anywhere) as searcher:
        assert searcher.index.read(["r5/0"], Records())[0].document_id == "a"


def test_a_delivery_retains_enrichment_and_adds_pending_documents(anywhere: str) -> None:
    load(anywhere, FIRST)
    with open_searcher(anywhere) as searcher:
        enrich(searcher.index)
    delivered = [changed(FIRST[5], "Barack Obama.", "The river."), bare_document("new", "A flood.")]
    append(anywhere, delivered)
    remove(anywhere, "r9")
    remaining = [d for d in FIRST if d.id not in ("r5", "r9")]
    enricher = FakeEnricher()
    with open_searcher(anywhere) as searcher:
        index = searcher.index
        assert read_enrichment(index, remaining) == enriched(index, remaining)
        enrich(index, enricher)
        assert enricher.enriched_ids == ["r5", "new"]
        assert read_enrichment(index, [*remaining, *delivered]) == enriched(index, [*remaining, *delivered])


def test_partial_enrichment_stays_with_its_documents(anywhere: str) -> None:
    load(anywhere, FIRST)
    with open_searcher(anywhere) as searcher:
        enrich(searcher.index, slice=(2, 2))
    append(anywhere, [bare_document("small", "A flood.")])  # merged with the segment before it
    remaining = [d for d in FIRST if d.id not in ("r1", "r28")]
    with open_searcher(anywhere) as searcher:
        before = read_enrichment(searcher.index, remaining)
    remove(anywhere, "r1", "r28")
    with open_searcher(anywhere) as searcher:
        assert read_enrichment(searcher.index, remaining) == before


def test_a_delivery_needs_an_index(anywhere: str) -> None:
    with pytest.raises(IndexMissing):
        append(anywhere, FIRST)
    load(anywhere, FIRST[:3])
    remove(anywhere, "r0", "r1", "r2")
    assert documents(anywhere) == []


def test_an_index_without_documents_is_one_that_takes_some(anywhere: str) -> None:
    load(anywhere, FIRST[:1], analyzer="plain")
    remove(anywhere, "r0")
    with closing(open_generations(anywhere)) as generations:
        assert [(each.state, each.documents) for each in generations.all()] == [("serving", 0), ("kept", 1)]
    append(anywhere, FIRST[1:3])
    assert documents(anywhere) == FIRST[1:3]
    with open_searcher(anywhere) as searcher:
        assert searcher.index.description.analyzer == "plain"


def test_a_document_that_elasticsearch_rejects_is_named_and_nothing_changes(elasticsearch_url: str) -> None:
    refused = Document("refused", (Sentence("refused.s0", "A flood.", {"a..b": 1.0}),))
    with fresh(elasticsearch_url) as where:
        load(where, FIRST)
        with pytest.raises(EsrError, match=r"refused\.s0.*nothing was changed"):
            append(where, [changed(FIRST[5], "Other."), refused])
        assert documents(where) == FIRST
        with closing(open_generations(where)) as generations:
            assert [generation.state for generation in generations.all()] == ["serving"]


def test_priors_of_delivered_documents_are_those_of_the_resulting_collection(
    elasticsearch_url: str, tmp_path: Path
) -> None:
    """Documents that stay keep the priors of their own load; only esr load computes all priors again."""
    with fresh(elasticsearch_url) as where:
        load(where, FIRST)
        delivered = [
            changed(FIRST[5], "A flood of the bank.", "Rare river."),
            *random_documents(30, 2, seed=3),
        ]
        append(where, delivered)
        load(str(tmp_path / "loaded"), documents(where))
        ids = [sentence.id for d in delivered for sentence in d.sentences]
        with open_searcher(where) as actual, open_searcher(str(tmp_path / "loaded")) as loaded:
            for column in ("importance", "importance_surrounding"):
                priors = actual.index.read(ids, EvidenceOf([])).columns[column]
                assert priors == pytest.approx(loaded.index.read(ids, EvidenceOf([])).columns[column])


def test_documents_of_several_loads_can_be_replaced_and_removed(elasticsearch_url: str) -> None:
    with fresh(elasticsearch_url) as where:
        load(where, FIRST[:20])
        load(where, FIRST[20:], if_exists="append")
        append(where, [changed(FIRST[2], "Other."), changed(FIRST[25], "Other.")])
        remove(where, "r7")
        expected_documents = [d for d in FIRST if d.id not in ("r2", "r7", "r25")]
        assert documents(where) == [
            *expected_documents,
            changed(FIRST[2], "Other."),
            changed(FIRST[25], "Other."),
        ]


def test_a_feature_disappears_with_the_last_document_that_has_it(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    solo = Document("solo", (Sentence("solo.s0", "A flood.", {"subj": 1.0, "solo": 2.0}),))
    load(where, [*FIRST, solo])
    remove(where, "solo")
    with open_searcher(where) as searcher:
        assert searcher.index.status(Features()) == ["subj"]


# Content that an index has under another id is told, on both engines.


WITH_TEXT = [document for document in FIRST if document.sentences]


def renamed(document: Document) -> Document:
    """The same content under another id."""
    id = f"again/{document.id}"
    sentences = tuple(Sentence(f"{id}.s{n}", s.text) for n, s in enumerate(document.sentences))
    return replace(document, id=id, sentences=sentences)


def append_quietly(where: str, documents: list[Document]) -> list[str]:
    """What is told about the contents of a delivery."""
    notes = open_delivery(where, LoadOptions()).append(located(documents)).notes
    return [note for note in notes if "under another id" in note]


def test_content_under_another_id_is_told(anywhere: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 700)
    load(anywhere, FIRST)
    new = list(random_documents(40, 5, seed=7))
    (note,) = append_quietly(anywhere, [*map(renamed, WITH_TEXT[3:8]), *new])
    first = WITH_TEXT[3].id
    assert note.startswith("warning: the index has the content of 5 documents (10) under another id: ")
    assert f"again/{first} (as {first}), " in note and note.endswith(", …")
    assert append_quietly(anywhere, new) == []


def test_a_changed_document_is_not_compared_with_itself(anywhere: str) -> None:
    load(anywhere, FIRST)
    assert append_quietly(anywhere, [replace(WITH_TEXT[3], source="Other.")]) == []


def test_other_content_of_the_same_shape_is_not_told(anywhere: str) -> None:
    load(anywhere, [bare_document("a", "Storm river bank.", "Flood water."), bare_document("e")])
    same_shape = [bare_document("b", "Flood river bank.", "Storm water."), bare_document("f")]
    titled = replace(bare_document("c", "Storm river bank.", "Flood water."), title="The")
    assert append_quietly(anywhere, [*same_shape, titled]) == []


def test_only_documents_whose_sentences_have_the_same_lengths_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    read_document = Segment.document

    def note(segment: Segment, number: int) -> Document:
        document = read_document(segment, number)
        read.append(document.id)
        return document

    where = str(tmp_path / "index")
    load(
        where,
        [
            bare_document("a", "Storm river bank.", "Flood."),
            bare_document("b", "Storm river.", "Bank flood."),
        ],
    )
    monkeypatch.setattr(Segment, "document", note)
    append_quietly(where, [bare_document("c", "Flood river.", "Storm water.")])
    assert "b" in read and "a" not in read


def test_a_load_that_appends_tells_it_too(anywhere: str) -> None:
    load(anywhere, FIRST)
    writer = open_writer(anywhere, LoadOptions(if_exists="append"))
    notes = writer.load(located([renamed(WITH_TEXT[2])])).notes
    assert sum("the content of 1 document (1) under another id" in note for note in notes) == 1


def test_a_large_delivery_is_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "SAMPLE", 4)
    where = str(tmp_path / "index")
    load(where, FIRST)
    (note,) = append_quietly(where, [renamed(document) for document in WITH_TEXT[:20]])
    assert "the content of 4 documents (4 compared of 20) under another id" in note


def test_a_sample_is_evenly_spaced_over_all_segments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "SAMPLE", 5)
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 100)
    load(str(tmp_path), WITH_TEXT[:17])
    segments = [Segment(tmp_path / SEGMENTS / name) for name in manifest.read_manifest(tmp_path).segments]
    assert len(segments) > 1
    assert snapshot.sample_documents(segments) == WITH_TEXT[:17:4]


def test_a_folder_loaded_with_another_base_is_told(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    for name in ("business/001", "sport/001"):
        path = tmp_path / "t" / f"{name}.txt"
        path.parent.mkdir(parents=True)
        path.write_text(f"T\nText of {name}.")
    run("load", tmp_path / "t" / "business", "--base", tmp_path / "t", "--index", where)
    again = run("append", where, tmp_path / "t", "--base", tmp_path / "t")
    assert "1 added, 1 unchanged" in again and "another id" not in again
    told = run("append", where, tmp_path / "t" / "sport", "--base", tmp_path / "t" / "sport")
    assert "the content of 1 document (1) under another id: 001 (as sport/001)" in told
