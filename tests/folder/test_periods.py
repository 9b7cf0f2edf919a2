"""An index that is divided by periods answers as one that is not, and writes only the periods that change."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from esr import models
from esr.errors import IndexUnusable, UsageError
from esr.folder.format import damage, manifest
from esr.folder.format.checkpoint import Checkpoint, write_checkpoint
from esr.folder.format.layer_info import LAYERS
from esr.folder.format.manifest import CHECKSUMS, SEGMENTS, period_of_segment
from esr.folder.format.segment import Segment
from esr.folder.index import EmbeddedIndex
from esr.folder.search.conditions import find_live
from esr.folder.write import segment_writer
from esr.folder.write.delivery import EmbeddedDelivery
from esr.folder.write.maintenance import EmbeddedGenerations, restore, verify
from esr.index.factory import open_migration
from esr.index.filters import NO_FILTERS, Filters
from esr.index.questions import (
    ByDay,
    ByName,
    ByTerm,
    DocumentMarks,
    DocumentsBefore,
    Features,
    Grouping,
    Records,
    Summary,
    Texts,
)
from esr.index.writer import LoadOptions
from esr.models.priors import PRIORS
from esr.plans.plan import CANDIDATES, AllOf, AnyOf, DateRange, HasTerm
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.dates import parse_date_end, parse_date_start
from esr.text.document import Document, Located, ParseWord, Sentence
from esr.text.periods import PERIODS, UNDATED, period_of_document
from tests.support.fake_enricher import FakeEnricher
from tests.support.folder_index import document, file_contents, load
from tests.support.index_contents import COUNTS_AND_LISTS, enrich, index_contents, read_enrichment
from tests.support.index_contents import documents as stored_documents

pytestmark = pytest.mark.slow

WORDS = "bank fraud river flood relief minister vote the court rare stone İstanbul"
QUERIES = ["river relief", "flood flood bank minister", "rare titleword unseenword", '"river flood" OR court']
SPLITS = [(m.name, c) for m in models.MODELS.values() for c in (m.contexts or (None,))]
STATES = ("loaded", "delivered")
PRIOR_WEIGHTS: list[dict[str, float]] = [{}, *({name: 1.0} for name in PRIORS)]


def dated(year: int, month: int) -> Filters:
    text = f"{year}-{month:02}"
    return Filters(date_from=parse_date_start(text), date_to=parse_date_end(text))


FILTERS = [
    NO_FILTERS,
    dated(2024, 6),
    Filters(date_from=parse_date_start("2024-10-15")),
    Filters(date_to=parse_date_start("2024-03-05"), sources=("wire",)),
    Filters(date_from=parse_date_start("2031")),
]


def news(count: int = 90, seed: int = 1) -> list[Document]:
    """Documents of twelve months and without a date, in random order."""
    rng = random.Random(seed)
    made = []
    for number in range(count):
        texts = [" ".join(rng.choices(WORDS.split(), k=rng.randrange(0, 14))) for _ in range(number % 5)]
        sentences = [
            Sentence(
                f"d{number}.s{n}",
                text,
                {"subj": n / 3},
                tuple(ParseWord(word, at - 1) for at, word in enumerate(text.split())) if n < 2 else None,
            )
            for n, text in enumerate(texts)
        ]
        made.append(
            Document(
                f"d{number}",
                tuple(sentences),
                title="Titleword flood" if number % 3 == 0 else None,
                date=f"2024-{rng.randrange(1, 13):02}-{rng.randrange(1, 29):02}" if number % 9 else None,
                source="wire" if number % 2 else None,
            )
        )
    return made


def by_period(documents: Iterable[Document], by: str = "month") -> list[Document]:
    """In the order of a divided index."""
    return sorted(documents, key=lambda document: period_of_document(document, by))


def locate(documents: Iterable[Document]) -> Iterator[Located]:
    return (Located("test", document) for document in documents)


def segments(where: Path) -> list[str]:
    return list(manifest.read_manifest(where).segments)


def periods(where: Path) -> list[str | None]:
    return [period_of_segment(name) for name in segments(where)]


def deliver(where: Path, documents: Iterable[Document]) -> None:
    EmbeddedDelivery(where).append(locate(documents))


# Answers


class Indexes(NamedTuple):
    """The same documents as one part and divided by month."""

    whole: Searcher
    divided: Searcher


@pytest.fixture(scope="module", params=STATES)
def indexes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexes]:
    folder = tmp_path_factory.mktemp("periods")
    whole, divided = folder / "whole", folder / "divided"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda descriptor: None)
        patch.setattr(segment_writer, "FULL_TERMS", 800)
        load(whole, locate(by_period(news())))
        load(divided, locate(news()), by="month")
        if request.param == "delivered":
            for where in (whole, divided):
                change(where)
    with open_searcher(str(whole)) as one, open_searcher(str(divided)) as other:
        yield Indexes(one, other)


def change(where: Path) -> None:
    """New documents, corrections of old ones, dates that change, and removals."""
    known = news()
    deliver(where, [replace(document, id=f"new{document.id}", sentences=()) for document in news(5, seed=2)])
    deliver(where, [replace(known[1], title="Rare stone"), replace(known[13], date="2024-02-11")])
    deliver(
        where, [replace(known[7], date=None), replace(known[9], date="2025-01-01"), *news(95, seed=1)[90:]]
    )
    EmbeddedDelivery(where).remove(["d3", "d44", "d60"])


@pytest.mark.parametrize("model, context", SPLITS)
def test_scores_do_not_depend_on_the_parts(indexes: Indexes, model: str, context: str | None) -> None:
    rules = sorted(CANDIDATES)
    for (p, prior), (q, query) in product(enumerate(PRIOR_WEIGHTS), enumerate(QUERIES)):
        options: dict[str, Any] = {
            "model": model,
            "context": context,
            "priors": prior,
            "candidates": rules[(p + q) % len(rules)],
            "filters": FILTERS[(p + 2 * q) % len(FILTERS)],
        }
        expected, actual = (
            searcher.search(query, 1_000, records=False, **options)
            for searcher in (indexes.whole, indexes.divided)
        )
        scores = {hit.sentence_id: hit.score for hit in expected.hits}
        assert {hit.sentence_id: hit.score for hit in actual.hits} == pytest.approx(scores, abs=1e-9)
        assert actual.total == expected.total


def test_all_that_an_index_returns_is_the_same(tmp_path: Path, no_sync: None) -> None:
    """Also enrichment and features, of which one depends on the sentences that documents repeat."""
    repeated = Sentence("", "Read all the news of the river here")
    made = [
        replace(
            document,
            sentences=(
                *document.sentences,
                replace(repeated, id=f"{document.id}.s{len(document.sentences)}"),
            ),
            source="wire",
        )
        for document in news()
    ]
    whole, divided = tmp_path / "whole", tmp_path / "divided"
    load(whole, locate(by_period(made)))
    load(divided, locate(made), by="month")
    assert index_contents(str(divided)) == index_contents(str(whole))
    for where in (whole, divided):
        with closing(EmbeddedIndex(str(where))) as index:
            assert "furniture" in index.status(Features())
            enrich(index)
    assert index_contents(str(divided)) == index_contents(str(whole))
    with closing(EmbeddedIndex(str(whole))) as one, closing(EmbeddedIndex(str(divided))) as other:
        assert read_enrichment(other, made) == read_enrichment(one, made)
        either = AnyOf((HasTerm("river"), HasTerm("bank")))
        conditions = [either, None]
        groupings: tuple[Grouping[Any], ...] = (ByDay(), ByTerm(9), ByName(5))
        for filters in FILTERS:
            for question in groupings:
                found = other.count(conditions, filters, question)
                assert found == one.count(conditions, filters, question)
            assert other.count(conditions, filters) == one.count(conditions, filters)
            chosen = [index.select(either, 30, filters, Texts()) for index in (one, other)]
            assert chosen[0].texts == chosen[1].texts


def test_equal_scores_are_in_the_order_of_periods_then_of_loading(tmp_path: Path) -> None:
    copies = [
        document("c", "storm", date="2024-03-01"),
        document("u", "storm"),
        document("b", "storm", date="2024-03-09"),
        document("a", "storm", date="2023"),
    ]
    load(tmp_path / "index", copies, by="month")
    with open_searcher(str(tmp_path / "index")) as searcher:
        hits = searcher.search("storm", 10, records=False).hits
    assert [hit.sentence_id for hit in hits] == ["a.s0", "c.s0", "b.s0", "u.s0"]


# Parts


@pytest.mark.parametrize("by", PERIODS)
def test_each_segment_has_the_documents_of_one_period_in_order_of_time(where: Path, by: str) -> None:
    load(where, locate(news()), by=by)
    assert periods(where) == sorted({period_of_document(document, by) for document in news()})
    for name in segments(where):
        segment = Segment(where / SEGMENTS / name)
        own = {period_of_document(segment.document(n), by) for n in range(segment.document_count)}
        assert own == {period_of_segment(name)}
    assert stored_documents(str(where)) == by_period(news(), by)


def test_an_index_that_is_not_divided_is_stored_as_before(where: Path) -> None:
    load(where, locate(news()))
    assert periods(where) == [None]
    assert "by" not in manifest.read_manifest(where).description.as_dict()


@pytest.mark.parametrize("full", [0, 60, 300])
def test_small_segments_of_a_period_are_merged_when_all_documents_are_read(
    where: Path, full: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", full)  # what is in memory is written often
    load(where, locate(news()), by="month")
    assert periods(where) == sorted(periods(where), key=str)
    assert len(segments(where)) < 4 * len(set(periods(where))) < len(news())
    assert stored_documents(str(where)) == by_period(news())
    assert {path.name for path in (where / SEGMENTS).iterdir()} == set(segments(where))


def test_documents_may_be_appended_by_a_load(where: Path) -> None:
    load(where, locate(news()[:60]), by="month")
    load(where, locate(news()), if_exists="append")
    assert stored_documents(str(where)) == by_period(news())
    assert periods(where) == sorted(periods(where), key=str)


def test_an_index_keeps_to_how_it_is_divided(where: Path, tmp_path: Path) -> None:
    load(where, locate(news()), by="month")
    with pytest.raises(UsageError, match="--by month"):
        load(where, locate(news()), if_exists="append", by="year")
    load(tmp_path / "whole", locate(news()))
    with pytest.raises(UsageError, match="not divided"):
        load(tmp_path / "whole", locate(news()), if_exists="append", by="year")
    with pytest.raises(UsageError, match="fortnight"):
        load(tmp_path / "new", locate(news()), by="fortnight")


def test_a_delivery_writes_only_the_segments_of_its_periods(where: Path) -> None:
    load(where, locate(news()), by="month")
    before = segments(where)
    deliver(where, [Document("new", (Sentence("new.s0", "flood"),), date="2024-05-31")])
    after = segments(where)
    assert {period_of_segment(name) for name in {*after} - {*before}} == {"2024-05"}
    assert {period_of_segment(name) for name in {*before} - {*after}} <= {"2024-05"}
    assert periods(where) == sorted(periods(where), key=str)


def test_a_delivery_reads_the_tables_that_it_needs_and_no_damaged_one(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(damage, "SMALL", 0)  # tables of any size are read only when they are needed
    load(where, locate(news()), by="month")
    march = next(name for name in segments(where) if period_of_segment(name) == "2024-03")
    old = next(document for document in news() if (document.date or "").startswith("2024-03"))
    new = Document("new", (Sentence("new.s0", "flood"),), date="2024-05-31")

    spoil_last_byte(where / SEGMENTS / march / "length.npy")
    deliver(where, [new])  # in another month
    for documents in ([old], [replace(new, id="newer", date="2024-03-31")]):
        with pytest.raises(IndexUnusable, match=r"length\.npy is damaged.*2024-03"):
            deliver(where, documents)
    with pytest.raises(IndexUnusable, match=r"length\.npy is damaged"):
        EmbeddedDelivery(where).remove([old.id])
    assert [found.path for found in verify(where, fast=False).damaged] == [
        f"{SEGMENTS}/{march}/length.npy",
    ]

    april = next(name for name in segments(where) if period_of_segment(name) == "2024-04")
    spoil_last_byte(where / SEGMENTS / april / "documents.hashes.npy")  # it may hide an id
    with pytest.raises(IndexUnusable, match=r"documents\.hashes\.npy is damaged"):
        deliver(where, [replace(new, id="newest")])


def test_an_id_is_looked_up_in_intact_tables_only(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(damage, "SMALL", 0)
    load(where, locate(news()), by="month")
    march = next(name for name in segments(where) if period_of_segment(name) == "2024-03")
    old = next(document for document in news() if (document.date or "").startswith("2024-03"))
    spoil_last_byte(where / SEGMENTS / march / "documents.bytes")
    deliver(where, [Document("new", (Sentence("new.s0", "flood"),), date="2024-05-31")])
    own_id = Document("other", (Sentence(f"{old.id}.s0", "flood"),), date="2024-05-31")
    for change in (
        lambda: deliver(where, [replace(old, date="2024-08-01")]),
        lambda: deliver(where, [own_id]),
        lambda: load(where, locate([own_id]), if_exists="append"),
    ):
        with pytest.raises(IndexUnusable, match=r"documents\.bytes is damaged"):
            change()


def spoil_last_byte(path: Path) -> None:
    """Change a byte of a file as a failing disk does, which leaves its size and time."""
    content, status = path.read_bytes(), path.stat()
    path.unlink()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_document_whose_date_changes_moves_to_another_period(where: Path) -> None:
    load(where, locate(news()), by="month")
    before = segments(where)
    moved = next(document for document in news() if (document.date or "").startswith("2024-03"))
    deliver(where, [replace(moved, date="2024-11-30")])
    changed = {period_of_segment(name) for name in {*before} ^ {*segments(where)}}
    assert changed == {"2024-03", "2024-11"}
    expected = [document for document in news() if document.id != moved.id]
    assert stored_documents(str(where)) == by_period([*expected, replace(moved, date="2024-11-30")])


def test_a_removal_of_old_documents_reads_no_segment_of_their_periods(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(where, locate(news()), by="month")
    before, kept = segments(where), news()
    old = [document.id for document in kept if document.date and document.date < "2024-07"]
    monkeypatch.setattr("esr.folder.write.rewriting.merge_segments", _refuse)
    report = EmbeddedDelivery(where).remove(old, parse_date_start("2024-07"))
    assert "2024-01" in report.notes[0] and "6 periods" in report.notes[0]
    assert segments(where) == [name for name in before if name > "2024-07"]
    assert stored_documents(str(where)) == by_period(d for d in kept if d.id not in old)
    EmbeddedGenerations(str(where)).rollback()
    assert segments(where) == before


def test_a_search_of_one_month_reads_no_other(where: Path) -> None:
    load(where, locate(news()), by="month")
    with open_searcher(str(where)) as searcher:
        expected = searcher.search("river", 100, filters=dated(2024, 6), candidates="all")
    june = dated(2024, 6)
    with closing(EmbeddedIndex(str(where))) as index:
        snapshot = index.cache.snapshot
        (own,) = find_live(snapshot, june)
        assert snapshot.segments[own].period == "2024-06"
        days = DateRange(june.date_from, june.date_to)
        assert find_live(snapshot, NO_FILTERS, AllOf((HasTerm("river"), days))) == range(own, own + 1)
        ranges = snapshot.statistics.within(range(own, own + 1)).find("river").posting_ranges
        assert any(ranges[4 * own : 4 * own + 4])
        assert not any(ranges[: 4 * own] + ranges[4 * own + 4 :])
        searcher = Searcher(index)
        searcher.search("river", 1, candidates="all")  # reads what all searches need
        for n, segment in enumerate(snapshot.segments):
            if n != own:  # reading any of these fails
                columns: dict[str, Any] = segment.columns
                columns.update(dict.fromkeys(("date", "source", "document")))
                del segment.mapped["documents"]
        hits = searcher.search("river", 100, filters=june, candidates="all")
        assert [hit.sentence_id for hit in hits.hits] == [hit.sentence_id for hit in expected.hits]
        assert {hit.record.date[:7] for hit in hits.hits if hit.record and hit.record.date} == {"2024-06"}
        searcher.index.count([HasTerm("river"), None], june, ByDay())


def test_the_status_lists_the_periods(where: Path) -> None:
    load(where, locate(news()), by="month")
    with closing(EmbeddedIndex(str(where))) as index:
        summary = index.status(Summary())
    contents = summary["periods"]
    assert [content["period"] for content in contents] == periods(where)
    for name in ("documents", "sentences", "size_bytes"):
        assert sum(content[name] for content in contents) == summary[name]
    june = [document for document in news() if (document.date or "").startswith("2024-06")]
    (content,) = (content for content in contents if content["period"] == "2024-06")
    dates = sorted(str(document.date) for document in june)
    assert content["documents"] == len(june)
    assert (content["first"], content["last"]) == (dates[0], dates[-1])
    assert contents[-1]["first"] is contents[-1]["last"] is None
    assert summary["by"] == "month"


def lose(where: Path, how: str, period: str = "2024-06") -> str:
    """Damage the segment of a period. Returns its name."""
    name = next(name for name in segments(where) if period_of_segment(name) == period)
    folder = where / SEGMENTS / name
    if how == "deleted":
        shutil.rmtree(folder)
    elif how == "truncated":
        (folder / "first.npy").write_bytes(b"")
    else:
        assert how == "its enrichment"
        (layer,) = (layer for layer in manifest.read_manifest(where).layers if layer.segment == name)
        (where / LAYERS / layer.name).unlink()
    return name


LOSSES = ["deleted", "truncated", "its enrichment"]


@pytest.mark.parametrize("how", LOSSES)
def test_a_lost_period_is_named_and_the_others_answer(where: Path, tmp_path: Path, how: str) -> None:
    load(where, locate(news()), by="month")
    rest = tmp_path / "rest"
    load(rest, locate(d for d in news() if not (d.date or "").startswith("2024-06")), by="month")
    for folder in (where, rest):
        with closing(EmbeddedIndex(str(folder))) as index:
            enrich(index)
    name = lose(where, how)
    with open_searcher(str(where)) as searcher, open_searcher(str(rest)) as remaining:
        for query in ("river flood", "titleword"):
            result, expected = (of.search(query, 200, candidates="all") for of in (searcher, remaining))
            assert name in (result.incomplete or "")
            assert "2024-06" in (result.incomplete or "")
            assert [(hit.sentence_id, hit.score) for hit in result.hits] == [
                (hit.sentence_id, hit.score) for hit in expected.hits
            ]
        assert "2024-06" in searcher.index.status(Summary())["incomplete"]
        assert "2024-06" not in [of["period"] for of in searcher.index.status(Summary())["periods"]]


def test_counts_and_lists_fail_if_they_would_leave_a_lost_period_out(where: Path) -> None:
    load(where, locate(news()), by="month")
    lose(where, "deleted")
    lost = next(d for d in news() if (d.date or "").startswith("2024-06") and d.sentences)
    with open_searcher(str(where)) as searcher:
        index = searcher.snapshot().index
        for ask in COUNTS_AND_LISTS:
            for filters in (NO_FILTERS, dated(2024, 6)):
                with pytest.raises(IndexUnusable, match=r"period 2024-06: .*esr restore.*esr verify"):
                    ask(index, filters)
            ask(index, dated(2024, 7))
        for read in (
            index.documents,
            lambda: index.documents([lost.id, "d1"]),
            lambda: index.documents(positions=[0]),
            lambda: index.read([lost.sentences[0].id], Records()),
            lambda: index.status(DocumentMarks()),
            lambda: index.status(DocumentsBefore(parse_date_start("2024-07"))),
        ):
            with pytest.raises(IndexUnusable, match="period 2024-06"):
                read()
        assert [found.id for found in index.documents(["d1"])] == ["d1"]
        before = index.status(DocumentsBefore(parse_date_start("2024-06")))
        old = [d for d in by_period(news()) if d.date and d.date < "2024-06"]
        assert list(before.items()) == [(d.id, len(d.sentences)) for d in old]


def test_no_delivery_or_enrichment_leaves_a_lost_period_out(where: Path) -> None:
    load(where, locate(news()), by="month")
    name = lose(where, "deleted")
    with pytest.raises(IndexUnusable, match="period 2024-06"):
        deliver(where, [replace(news()[0], id="new", sentences=())])
    with (
        closing(EmbeddedIndex(str(where))) as index,
        pytest.raises(IndexUnusable, match="period 2024-06"),
        index.enrichment(),
    ):
        pass
    assert name in segments(where)


def test_damage_found_by_a_reader_leaves_a_period_out_until_it_is_restored(
    where: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(damage, "SMALL", 0)
    load(where, locate(news()), by="month")
    shutil.copytree(where, tmp_path / "copy")
    (name,) = (name for name in segments(where) if period_of_segment(name) == "2024-06")
    texts = where / SEGMENTS / name / "texts.bytes"
    content, status = texts.read_bytes(), texts.stat()
    texts.unlink()
    texts.write_bytes(bytes(len(content)))
    os.utime(texts, ns=(status.st_atime_ns, status.st_mtime_ns))
    with closing(EmbeddedIndex(str(where))) as index:
        searcher = Searcher(index)
        (everything,) = index.count([None], NO_FILTERS)
        with pytest.raises(IndexUnusable, match="period 2024-06"):
            searcher.search("river flood", 100)
        assert name in (searcher.search("river", 5).incomplete or "")
        assert index.count([None], dated(2024, 7))
        with pytest.raises(IndexUnusable, match="period 2024-06"):
            index.count([None], NO_FILTERS)
        restore(tmp_path / "copy", where, copy=True)
        assert searcher.search("river", 5).incomplete is None
        assert index.count([None], NO_FILTERS) == [everything]


def test_an_index_whose_segments_are_all_lost_cannot_be_opened(where: Path) -> None:
    load(where, locate(news()), by="month")
    for period in {*periods(where)}:
        lose(where, "deleted", str(period))
    (damaged, *_) = verify(where, fast=True).damaged
    assert damaged.path.startswith("segments/2024-01.")
    with pytest.raises(IndexUnusable, match=r"with documents of the period .*esr restore.*esr verify"):
        EmbeddedIndex(str(where))


def _refuse(*arguments: object) -> None:
    raise AssertionError("no segment is written again")


def test_a_period_that_lost_all_of_its_documents_is_gone(where: Path) -> None:
    load(where, locate(news()), by="month")
    EmbeddedDelivery(where, keep=0).remove(
        [d.id for d in news() if period_of_document(d, "month") == UNDATED]
    )
    assert UNDATED not in periods(where)
    assert not [path for path in (where / SEGMENTS).iterdir() if path.name.startswith(UNDATED)]


@pytest.mark.parametrize("killed_after", [1, 3])
def test_a_killed_load_is_resumed(
    where: Path, tmp_path: Path, killed_after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 300)
    write, written = segment_writer.SegmentWriter.flush, list[int]()

    def flush(writer: segment_writer.SegmentWriter) -> None:
        if len(written) == killed_after:
            raise KeyboardInterrupt
        written.append(1)
        write(writer)

    with monkeypatch.context() as patch:
        patch.setattr(segment_writer.SegmentWriter, "flush", flush)
        with pytest.raises(KeyboardInterrupt):
            load(where, locate(news()), by="month")
    assert list((where / SEGMENTS).iterdir())
    with pytest.raises(UsageError, match="other options"):
        load(where, locate(news()), by="year", resume=True)
    shutil.copytree(where, tmp_path / "on another machine")
    load(tmp_path / "other", locate(news()), by="month")
    for folder in (where, tmp_path / "on another machine"):
        load(folder, locate(news()), by="month", resume=True)
        assert contents(folder) == contents(tmp_path / "other")


def contents(where: Path) -> Sequence[dict[str, bytes]]:
    """The files of the segments, in their order, without their tables of checksums, which have times."""
    found = [file_contents(where / SEGMENTS / segment) for segment in segments(where)]
    return [{name: of_segment[name] for name in of_segment if name != CHECKSUMS} for of_segment in found]


def test_an_interrupted_migration_is_resumed_and_keeps_periods_and_enrichment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_sync: None
) -> None:
    where = str(tmp_path / "index")
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 60)
    load(Path(where), locate(news()), by="month", analyzer=None)
    enrich(EmbeddedIndex(where), FakeEnricher())
    before = index_contents(where)
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 100)
    monkeypatch.setattr(manifest, "FORMAT", manifest.FORMAT + 1)
    writes: list[int] = []

    def interrupt(folder: Path, written: Checkpoint) -> Checkpoint:
        writes.append(written.documents)
        if len(writes) == 4:
            raise KeyboardInterrupt
        return write_checkpoint(folder, written)

    monkeypatch.setattr("esr.folder.write.folder_writer.write_checkpoint", interrupt)
    with pytest.raises(KeyboardInterrupt):
        open_migration(where, LoadOptions()).run()
    open_migration(where, LoadOptions()).run()
    assert 0 < writes[2] < writes[4], "the second run goes on where the first was interrupted"
    assert index_contents(where) == before
    periods = [period_of_segment(name) for name in manifest.read_manifest(Path(where)).segments]
    assert periods == sorted(periods, key=str) and len({*periods}) == 13
    assert enrich(EmbeddedIndex(where), FakeEnricher()).documents == 0
