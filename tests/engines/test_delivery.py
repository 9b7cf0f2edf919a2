"""`append` and `remove` on both engines: afterwards the index is as if loaded with what it holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import esr
from esr.documents import Document, Located, Sentence
from esr.engines.delivery import DeliveryReport
from esr.engines.factory import LoadOptions, open_delivery, open_generations
from esr.engines.index import Index
from esr.engines.segments.writer import segment_builder as build
from esr.errors import EsrError, IndexMissing, InputError
from tests.engines.elasticsearch.support import document, fresh, load, located
from tests.engines.holding import documents, everything
from tests.engines.test_parity import random_documents
from tests.enrichment.fake_enricher import FakeEnricher
from tests.enrichment.stored_enrichment import enrich, expected, read_enrichment

FIRST = list(random_documents(0, 30, seed=1))


def append(where: str, some: list[Document], **options: int) -> DeliveryReport:
    return open_delivery(where, LoadOptions(**options)).append(located(some))


def remove(where: str, *ids: str) -> DeliveryReport:
    return open_delivery(where, LoadOptions()).remove(ids)


def counts(report: DeliveryReport) -> tuple[int, int, int, int]:
    return report.added, report.changed, report.unchanged, report.removed


def enriched(index: Index, held: list[Document]) -> dict[str, object]:
    """What the enricher finds in these documents."""
    return {k: v for each in held for k, v in expected(FakeEnricher(), each, index.analyzer).items()}


def is_as_loaded(where: str, held: list[Document], tmp_path: Path) -> None:
    """Compare with a fresh load on the same engine. Elasticsearch keeps priors of the time they came."""
    embedded = not where.startswith("http")
    if embedded:
        other = str(tmp_path / "other")
        load(other, held)
        assert everything(where) == everything(other)
    else:
        with fresh(where.rpartition("/")[0]) as other:
            load(other, held)
            assert everything(where, priors=False) == everything(other, priors=False)


def changed(some: Document, *texts: str) -> Document:
    """The same document with other sentences."""
    return Document(some.id, tuple(Sentence(f"{some.id}/new{n}", text) for n, text in enumerate(texts)))


def test_new_documents_are_added_changed_ones_replaced_and_the_same_passed_over(
    anywhere: str, tmp_path: Path
) -> None:
    load(anywhere, FIRST)
    more = list(random_documents(30, 5, seed=2))
    other = [changed(FIRST[5], "A flood.", "Bank of the river."), replace(FIRST[10], title="Rare titleword")]
    came = [FIRST[4], other[0], *more, FIRST[11], other[1]]
    report = append(anywhere, came)
    assert counts(report) == (5, 2, 2, 0)
    stay = [each for each in FIRST if each.id not in (other[0].id, other[1].id)]
    held = [*stay, other[0], *more, other[1]]
    assert documents(anywhere) == held
    is_as_loaded(anywhere, held, tmp_path)


def test_a_delivery_that_comes_again_changes_nothing(anywhere: str) -> None:
    load(anywhere, FIRST)
    came = [*random_documents(30, 3, seed=2), changed(FIRST[4], "New.")]
    append(anywhere, came)
    with closing(open_generations(anywhere)) as at:
        before = at.all()
    assert counts(append(anywhere, came)) == (0, 0, 4, 0)
    with closing(open_generations(anywhere)) as at:
        assert at.all() == before


def test_removed_documents_are_gone_with_all_their_sentences(anywhere: str, tmp_path: Path) -> None:
    load(anywhere, FIRST)
    report = remove(anywhere, "r3", "r29", "unheard", "r3", "r4")
    assert (counts(report), report.missing) == ((0, 0, 0, 3), ["unheard"])
    held = [each for each in FIRST if each.id not in ("r3", "r4", "r29")]
    is_as_loaded(anywhere, held, tmp_path)
    assert counts(remove(anywhere, "r3")) == (0, 0, 0, 0)
    append(anywhere, [FIRST[3]])
    assert documents(anywhere) == [*held, FIRST[3]]


def test_many_deliveries_leave_an_index_as_loaded_at_once(
    anywhere: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With small segments: some are joined, some lose documents, some stay."""
    monkeypatch.setattr(build, "FULL_TERMS", 700)
    held = list(FIRST)
    load(anywhere, held)
    for day in range(4):
        came = [
            *random_documents(40 + 4 * day, 4, seed=day),
            replace(held[7 * day % len(held)], source=f"{day}"),
        ]
        append(anywhere, came)
        gone = held[3].id
        remove(anywhere, gone)
        arrived = {each.id for each in came}
        held = [each for each in held if each.id not in arrived] + came
        held = [each for each in held if each.id != gone]
    is_as_loaded(anywhere, held, tmp_path)


def test_the_generation_before_a_delivery_can_be_gone_back_to(anywhere: str) -> None:
    load(anywhere, FIRST)
    append(anywhere, [changed(FIRST[5], "Other.")])
    with closing(open_generations(anywhere)) as at:
        assert [each.state for each in at.all()] == ["serving", "kept"]
        at.rollback()
    assert documents(anywhere) == FIRST
    with closing(open_generations(anywhere)) as at:
        at.delete([at.all()[0].name])
    assert documents(anywhere) == FIRST


def test_an_open_index_sees_the_whole_delivery_or_nothing_of_it(anywhere: str) -> None:
    load(anywhere, FIRST)
    seen_meanwhile = []

    def watched() -> Iterator[Located]:
        for each in located([changed(FIRST[5], "Other."), document("last", "A flood.")]):
            seen_meanwhile.append(documents(anywhere) == FIRST)
            yield each

    open_delivery(anywhere, LoadOptions()).append(watched())
    assert seen_meanwhile == [True, True]


def test_a_delivery_that_fails_changes_nothing(anywhere: str) -> None:
    load(anywhere, FIRST)

    def broken() -> Iterator[Located]:
        yield from located([changed(FIRST[5], "Other.")])
        raise InputError("news.jsonl:2", "not JSON")

    with pytest.raises(InputError, match="not JSON"):
        open_delivery(anywhere, LoadOptions()).append(broken())
    for came in (
        [document("a", "One."), document("a", "Two.")],
        [Document("a", (Sentence("r5/0", "Taken."),))],
    ):
        with pytest.raises(InputError):
            append(anywhere, came)
    assert documents(anywhere) == FIRST
    with closing(open_generations(anywhere)) as at:
        assert [each.state for each in at.all()] == ["serving"]


def test_a_sentence_id_may_move_to_a_document_of_the_same_delivery(anywhere: str) -> None:
    load(anywhere, FIRST)
    append(anywhere, [Document("a", (Sentence("r5/0", "Moved."),)), changed(FIRST[5], "Other.")])
    with esr.open(anywhere) as searcher:
        assert searcher.index.sentences(["r5/0"])[0].document_id == "a"


def test_what_is_enriched_stays_enriched_and_what_came_is_to_be_done(anywhere: str) -> None:
    load(anywhere, FIRST)
    with esr.open(anywhere) as searcher:
        enrich(searcher.index)
    came = [changed(FIRST[5], "Barack Obama.", "The river."), document("new", "A flood.")]
    append(anywhere, came)
    remove(anywhere, "r9")
    stay = [each for each in FIRST if each.id not in ("r5", "r9")]
    enricher = FakeEnricher()
    with esr.open(anywhere) as searcher:
        index = searcher.index
        assert read_enrichment(index, stay) == enriched(index, stay)
        enrich(index, enricher)
        assert enricher.enriched_ids == ["r5", "new"]
        assert read_enrichment(index, [*stay, *came]) == enriched(index, [*stay, *came])


def test_what_is_enriched_in_part_stays_with_its_documents(anywhere: str) -> None:
    load(anywhere, FIRST)
    with esr.open(anywhere) as searcher:
        enrich(searcher.index, slice=(2, 2))
    append(anywhere, [document("small", "A flood.")])  # joined to the segment before it
    stay = [each for each in FIRST if each.id not in ("r1", "r28")]
    with esr.open(anywhere) as searcher:
        before = read_enrichment(searcher.index, stay)
    remove(anywhere, "r1", "r28")
    with esr.open(anywhere) as searcher:
        assert read_enrichment(searcher.index, stay) == before


def test_a_delivery_needs_an_index(anywhere: str) -> None:
    with pytest.raises(IndexMissing):
        append(anywhere, FIRST)
    load(anywhere, FIRST[:3])
    remove(anywhere, "r0", "r1", "r2")
    assert documents(anywhere) == []


def test_a_document_that_elasticsearch_refuses_is_named_and_nothing_changes(elasticsearch_url: str) -> None:
    refused = Document("refused", (Sentence("refused.s0", "A flood.", {"a..b": 1.0}),))
    with fresh(elasticsearch_url) as where:
        load(where, FIRST)
        with pytest.raises(EsrError, match=r"refused\.s0.*nothing was changed"):
            append(where, [changed(FIRST[5], "Other."), refused])
        assert documents(where) == FIRST
        with closing(open_generations(where)) as at:
            assert [each.state for each in at.all()] == ["serving"]


def test_priors_of_what_comes_are_by_the_collection_as_it_will_be(
    elasticsearch_url: str, tmp_path: Path
) -> None:
    """Those of what stays are of when it came; esr load makes all of them anew."""
    with fresh(elasticsearch_url) as where:
        load(where, FIRST)
        came = [changed(FIRST[5], "A flood of the bank.", "Rare river."), *random_documents(30, 2, seed=3)]
        append(where, came)
        load(str(tmp_path / "right"), documents(where))
        ids = [sentence.id for each in came for sentence in each.sentences]
        with esr.open(where) as got, esr.open(str(tmp_path / "right")) as right:
            for column in ("importance", "importance_surrounding"):
                priors = got.index.evidence([], ids).columns[column]
                assert priors == pytest.approx(right.index.evidence([], ids).columns[column])


def test_documents_of_several_loads_are_replaced_where_they_are(elasticsearch_url: str) -> None:
    with fresh(elasticsearch_url) as where:
        load(where, FIRST[:20])
        load(where, FIRST[20:], if_exists="append")
        append(where, [changed(FIRST[2], "Other."), changed(FIRST[25], "Other.")])
        remove(where, "r7")
        held = [each for each in FIRST if each.id not in ("r2", "r7", "r25")]
        assert documents(where) == [*held, changed(FIRST[2], "Other."), changed(FIRST[25], "Other.")]


def test_a_feature_that_no_document_has_any_more_is_none_of_the_index(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    solo = Document("solo", (Sentence("solo.s0", "A flood.", {"subj": 1.0, "solo": 2.0}),))
    load(where, [*FIRST, solo])
    remove(where, "solo")
    with esr.open(where) as searcher:
        assert searcher.index.features() == ["subj"]
