"""Generations on both engines: serving, keeping, rolling back and deleting; drift and refresh of priors."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta, tzinfo
from math import log
from pathlib import Path
from typing import Self

import pytest
from click.testing import CliRunner

from esr.cli import main
from esr.elastic.write import maintenance as elasticsearch
from esr.errors import EsrError, IndexMissing, InputError, UsageError
from esr.features import furniture
from esr.folder.write import segment_writer
from esr.index import generations as index_generations
from esr.index.factory import open_delivery, open_generations, open_priors
from esr.index.generations import SERVING, Drift, Generation, RefreshReport, generation_name
from esr.index.questions import EvidenceOf
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Sentence
from tests.index.test_parity import random_documents
from tests.support.elasticsearch import document, fresh, http, load, located
from tests.support.fake_enricher import FakeEnricher
from tests.support.index_contents import STORED_PRIORS, documents, enrich, index_contents

pytestmark = pytest.mark.slow

FIRST = [document("one", "A flood.", "A river.")]
SECOND = [document("two", "A flood."), document("three", "Relief came.", "Late.", "At last.")]
THIRD = [document("four", "The flood is over.")]


def list_generations(where: str) -> list[Generation]:
    with closing(open_generations(where)) as generations:
        return generations.all()


def states(where: str) -> list[str]:
    return [generation.state for generation in list_generations(where)]


def rollback(where: str, to: str | None = None) -> Generation:
    with closing(open_generations(where)) as generations:
        return generations.rollback(to)


def delete(where: str, *names: str) -> None:
    with closing(open_generations(where)) as generations:
        generations.delete(names)


def serving_documents(where: str) -> set[str]:
    with open_searcher(where) as searcher:
        hits = searcher.search("flood river relief late over", 100, candidates="all").hits
        return {hit.sentence_id.partition(".")[0] for hit in hits}


def replace(where: str, documents: list[Document], keep: int = 1) -> str:
    """Load, and return the name of the new serving generation."""
    load(where, documents, if_exists="replace", keep=keep)
    (name,) = (generation.name for generation in list_generations(where) if generation.state == "serving")
    return name


def test_a_generation_has_counts_a_size_and_a_time(anywhere: str) -> None:
    name = replace(anywhere, SECOND)
    (only,) = list_generations(anywhere)
    assert (only.name, only.state, only.documents, only.sentences) == (name, "serving", 2, 4)
    assert only.size_bytes > 100
    assert only.started_at.endswith("Z") and only.started_at[:4].isdigit()


def test_a_load_keeps_as_many_generations_as_requested(anywhere: str) -> None:
    first = replace(anywhere, FIRST)
    second = replace(anywhere, SECOND)
    assert [(generation.name, generation.state) for generation in list_generations(anywhere)] == [
        (second, "serving"),
        (first, "kept"),
    ]
    third = replace(anywhere, THIRD)
    assert [generation.name for generation in list_generations(anywhere)] == [third, second]
    fourth = replace(anywhere, FIRST, keep=2)
    assert [generation.name for generation in list_generations(anywhere)] == [fourth, third, second]
    last = replace(anywhere, FIRST, keep=0)
    assert [generation.name for generation in list_generations(anywhere)] == [last]


def test_a_rollback_serves_the_previous_generation_and_can_be_undone(anywhere: str) -> None:
    first, second = replace(anywhere, FIRST), replace(anywhere, SECOND)
    with open_searcher(anywhere) as searcher:
        assert rollback(anywhere).name == first
        hits = searcher.search("river", 1).hits
        assert [hit.sentence_id for hit in hits] == ["one.s1"], "an open index sees the rollback at once"
    assert serving_documents(anywhere) == {"one"}
    assert [(generation.name, generation.state) for generation in list_generations(anywhere)] == [
        (second, "kept"),
        (first, "serving"),
    ]
    with pytest.raises(UsageError, match=f"no generation before the serving one.*--to {second}"):
        rollback(anywhere)
    assert rollback(anywhere, second).name == second
    assert serving_documents(anywhere) == {"two", "three"}


def set_clock(monkeypatch: pytest.MonkeyPatch, year: int) -> None:
    """Name the generations that follow as if this were the year."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls(year, 3, 1, 6, tzinfo=tz)

    monkeypatch.setattr(index_generations, "datetime", Clock)


def test_generations_are_in_order_after_the_clock_went_back(
    anywhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, 2040)
    first = replace(anywhere, FIRST)
    set_clock(monkeypatch, 2020)
    second = replace(anywhere, SECOND)
    report = open_delivery(anywhere, LoadOptions(keep=1)).append(located(THIRD))
    assert report.notes == [f"generation {second} is kept: esr rollback goes back to it"]
    third, kept = list_generations(anywhere)
    assert (third.state, kept.name, kept.state) == ("serving", second, "kept")
    assert first < second < third.name
    assert rollback(anywhere).name == second
    assert serving_documents(anywhere) == {"two", "three"}
    load(anywhere, FIRST, if_exists="append", keep=2)
    monkeypatch.undo()
    last = replace(anywhere, THIRD, keep=2)
    assert list_generations(anywhere)[0].name == last
    assert rollback(anywhere).documents == 3


def test_a_rollback_to_an_unknown_generation_is_refused(anywhere: str) -> None:
    name = replace(anywhere, FIRST)
    for to, message in (
        (None, "keeps no generation before"),
        ("x", "there is no generation 'x'"),
        (name, "is serving"),
    ):
        with pytest.raises(UsageError, match=message):
            rollback(anywhere, to)
    assert serving_documents(anywhere) == {"one"}


def test_an_append_is_a_generation_that_can_be_rolled_back(anywhere: str) -> None:
    first = replace(anywhere, FIRST)
    load(anywhere, SECOND, if_exists="append")
    newest, before = list_generations(anywhere)
    assert (newest.documents, before.documents, before.name) == (3, 1, first)
    rollback(anywhere)
    assert serving_documents(anywhere) == {"one"}
    rollback(anywhere, newest.name)
    assert serving_documents(anywhere) == {"one", "two", "three"}
    delete(anywhere, first)
    assert states(anywhere) == ["serving"]
    assert serving_documents(anywhere) == {"one", "two", "three"}, "what two generations share stays"


def test_an_appending_load_that_keeps_nothing_leaves_one_generation(anywhere: str) -> None:
    replace(anywhere, FIRST)
    load(anywhere, SECOND, if_exists="append", keep=0)
    assert states(anywhere) == ["serving"]
    assert serving_documents(anywhere) == {"one", "two", "three"}


def test_the_serving_generation_cannot_be_deleted_by_name(anywhere: str) -> None:
    first, second = replace(anywhere, FIRST), replace(anywhere, SECOND)
    for names, message in (([first, second], "is serving"), ([first, "x"], "there is no generation 'x'")):
        with pytest.raises(UsageError, match=message):
            delete(anywhere, *names)
        assert len(list_generations(anywhere)) == 2, "nothing is deleted before all names are checked"
    delete(anywhere, first, first)
    assert [generation.name for generation in list_generations(anywhere)] == [second]
    assert serving_documents(anywhere) == {"two", "three"}


def test_a_whole_index_can_be_deleted(anywhere: str) -> None:
    replace(anywhere, FIRST)
    replace(anywhere, SECOND)
    with closing(open_generations(anywhere)) as generations:
        generations.delete_all()
    with pytest.raises(IndexMissing):
        open_searcher(anywhere)
    with pytest.raises(IndexMissing):
        list_generations(anywhere)
    load(anywhere, THIRD)
    assert states(anywhere) == ["serving"]


def test_failing_to_delete_old_generations_is_a_note_and_no_error(
    elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from esr.elastic.write import generations

    def fail(*_: object) -> None:
        raise EsrError("refuses")

    with fresh(elasticsearch_url) as where:
        load(where, FIRST)
        monkeypatch.setattr(generations, "delete_indices", fail)
        report = load(where, SECOND, if_exists="replace", keep=0)
        assert report.notes == ["older generations could not be deleted, see esr indices: refuses"]
        assert serving_documents(where) == {"two", "three"}


ROOT = Path(__file__).resolve().parents[2]
PRIORS_FIRST = list(random_documents(0, 30, seed=1))
MORE = list(random_documents(30, 30, seed=2))
KILLED = """
import os, signal, sys
from esr.cli import main
from esr.elastic.write import maintenance
maintenance._BATCH = 20
real, sent = maintenance.send_bulk, []
def send(*args):
    result = real(*args)
    sent.append(1)
    if len(sent) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return result
maintenance.send_bulk = send
main(["refresh-priors", sys.argv[1]])
"""


@pytest.fixture
def without_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sentences that many documents repeat are no furniture: loads count them apart, a refresh does not."""
    monkeypatch.setattr(furniture, "MIN_REPEATS", 1000)


def drift(where: str) -> list[Drift]:
    with closing(open_priors(where)) as priors:
        return priors.drift()


def refresh(where: str) -> RefreshReport:
    with closing(open_priors(where)) as priors:
        return priors.refresh(lambda processed, total: None)


def append(where: str, documents: list[Document]) -> None:
    open_delivery(where, LoadOptions()).append(located(documents))


def columns(where: str) -> dict[str, list[float]]:
    with open_searcher(where) as searcher:
        index = searcher.index
        ids = [sentence.id for document in index.documents() for sentence in document.sentences]
        columns = index.read(ids, EvidenceOf([])).columns
        return {name: columns[name].tolist() for name in STORED_PRIORS}


@pytest.mark.usefixtures("without_repeats")
def test_after_a_refresh_all_fields_are_as_if_loaded_at_once(anywhere: str, tmp_path: Path) -> None:
    load(anywhere, PRIORS_FIRST)
    append(anywhere, MORE)
    report = refresh(anywhere)
    if anywhere.startswith("http"):
        assert 0 < report.changed <= report.sentences
        assert [load.largest for load in drift(anywhere)] == [0.0]
        with fresh(anywhere.rpartition("/")[0]) as other:
            load(other, PRIORS_FIRST + MORE)
            assert index_contents(anywhere) == index_contents(other)
        assert refresh(anywhere).changed == 0
    else:
        assert (report.changed, drift(anywhere)) == (0, [])
        assert report.notes == ["an index folder always computes its priors exactly: there is nothing to do"]
        load(str(tmp_path / "other"), PRIORS_FIRST + MORE)
        assert index_contents(anywhere) == index_contents(str(tmp_path / "other"))


def test_drift_needs_an_index(anywhere: str) -> None:
    with pytest.raises(IndexMissing):
        open_priors(anywhere)


@pytest.mark.elasticsearch
class TestElasticsearch:
    """Only Elasticsearch stores priors."""

    @pytest.fixture
    def where(self, elasticsearch_url: str) -> object:
        with fresh(elasticsearch_url) as where:
            yield where

    def test_an_append_makes_the_existing_priors_drift(self, where: str) -> None:
        """Two sentences of one term each: 1 of 2 occurrences, then 1 of 4."""
        load(where, [document("a", "flood", "storm")])
        (before,) = drift(where)
        assert (before.sentences, before.sampled, before.occurrence, before.largest) == (2, 2, 0.0, 0.0)
        append(where, [document("b", "river"), document("c", "hail")])
        (after,) = drift(where)
        assert (after.sentences, after.sampled) == (4, 4)
        assert after.occurrence == pytest.approx(log(2) / 2)  # two of four sentences are off by log 2
        assert after.mean == pytest.approx(log(2) / 2)
        assert after.largest == pytest.approx(log(2))
        refresh(where)
        assert [load.largest for load in drift(where)] == [0.0]

    def test_each_load_has_its_own_drift(self, where: str) -> None:
        load(where, PRIORS_FIRST)
        load(where, PRIORS_FIRST + MORE, if_exists="append")
        old, new = drift(where)
        assert old.load < new.load
        assert old.largest > 0.0
        assert new.largest == 0.0

    def test_large_loads_are_sampled(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        load(where, PRIORS_FIRST)
        append(where, MORE)
        (full,) = drift(where)
        monkeypatch.setattr(elasticsearch, "SAMPLE_SIZE", 40)
        (sample,) = drift(where)
        assert 20 < sample.sampled <= 40 < sample.sentences == full.sentences
        assert sample.occurrence == pytest.approx(full.occurrence, rel=0.5)
        assert drift(where) == [sample]

    def test_a_refresh_retains_enrichment(self, where: str) -> None:
        load(where, PRIORS_FIRST)
        append(where, MORE)
        with open_searcher(where) as searcher:
            enrich(searcher.index, FakeEnricher())
        before = index_contents(where, priors=False)
        refresh(where)
        assert index_contents(where, priors=False) == before

    @pytest.mark.usefixtures("without_repeats")
    def test_a_killed_refresh_is_resumed(self, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
        load(where, PRIORS_FIRST)
        append(where, MORE)
        old = columns(where)
        command = [sys.executable, "-c", KILLED, where]
        killed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        assert [load.largest > 0.0 for load in drift(where)] == [True]
        http("POST", f"{where}/_refresh")  # what is not visible yet is sent again
        report = refresh(where)
        assert 0 < report.changed < report.sentences - 20
        changes = sum(a != b for a, b in zip(old["importance"], columns(where)["importance"], strict=True))
        assert changes > report.changed
        with fresh(where.rpartition("/")[0]) as other:
            load(other, PRIORS_FIRST + MORE)
            assert index_contents(where) == index_contents(other)

    def test_a_delivery_during_a_refresh_is_noticed(
        self, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        load(where, PRIORS_FIRST)
        append(where, MORE[:5])
        real = elasticsearch.ElasticsearchPriors.update
        deliveries = iter([MORE[5:]])

        def meanwhile(*args: object) -> int:
            for delivery in deliveries:
                append(where, delivery)
            return real(*args)  # type: ignore[arg-type]

        monkeypatch.setattr(elasticsearch.ElasticsearchPriors, "update", meanwhile)
        with pytest.raises(EsrError, match="was changed during the refresh: run esr refresh-priors again"):
            refresh(where)
        refresh(where)
        assert [load.largest for load in drift(where)] == [0.0]


# Documents that an index cannot take are set aside with the reason, and the others loaded.


NEWS = [document(f"n{n}", f"Flood number {n}.", "A river.") for n in range(20)]
DUPLICATE = document("n3", "Another text.")
CONFLICTING = Document("taken", (Sentence("mine", "A storm."), Sentence("n5.s1", "A storm.")))


def test_documents_with_duplicate_ids_are_set_aside(
    anywhere: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 30)
    aside: list[tuple[str, str]] = []
    free = Document("free", (Sentence("mine", "A storm."),))  # ids of documents set aside remain free
    report = load(
        anywhere,
        [*NEWS, DUPLICATE, CONFLICTING, free],
        set_aside=lambda document, reason: aside.append((document.id, reason)),
    )
    assert (report.documents, report.sentences, report.set_aside) == (21, 41, 2)
    assert [id for id, _ in aside] == ["n3", "taken"]
    assert "is duplicated" in aside[0][1] and "test:22: sentence id 'n5.s1' is already used" in aside[1][1]
    assert documents(anywhere) == [*NEWS, free]


def test_a_document_that_elasticsearch_rejects_in_part_is_set_aside_whole(elasticsearch_url: str) -> None:
    bad = Document("bad", (Sentence("bad.s0", "A flood."), Sentence("bad.s1", "A flood.", {"a..b": 1.0})))
    aside: list[str] = []
    with fresh(elasticsearch_url) as where, fresh(elasticsearch_url) as other:
        report = load(where, [*NEWS, bad], set_aside=lambda document, reason: aside.append(reason))
        assert (report.documents, report.sentences, report.set_aside) == (20, 40, 1)
        assert len(aside) == 1 and aside[0].startswith("Elasticsearch rejected bad.s1: ")
        load(other, NEWS)
        assert index_contents(where, priors=False) == index_contents(other, priors=False)


def test_without_a_place_to_set_documents_aside_nothing_is_loaded(anywhere: str) -> None:
    load(anywhere, NEWS)
    with pytest.raises(InputError, match="is duplicated"):
        load(anywhere, [*NEWS, DUPLICATE], if_exists="replace")
    assert documents(anywhere) == NEWS


def test_a_load_of_rejected_documents_only_replaces_nothing(elasticsearch_url: str) -> None:
    bad = Document("bad", (Sentence("bad.s0", "A flood.", {"a..b": 1.0}),))
    with fresh(elasticsearch_url) as where:
        load(where, NEWS)
        with pytest.raises(EsrError, match="nothing was switched"):
            load(where, [bad], if_exists="replace", set_aside=lambda document, reason: None)
        assert documents(where) == NEWS


def test_an_append_sets_aside_a_document_with_the_id_of_a_sentence_of_the_index(anywhere: str) -> None:
    new, aside = document("new", "A storm."), list[str]()
    load(anywhere, NEWS)
    with pytest.raises(InputError, match=r"^test:2: sentence id 'n5.s1' is already used"):
        load(anywhere, [new, CONFLICTING], if_exists="append")
    assert documents(anywhere) == NEWS

    def set_aside(document: Document, reason: str) -> None:
        aside.append(reason.partition(": give")[0])

    with pytest.raises(EsrError, match="every document was set aside"):
        load(anywhere, [CONFLICTING], if_exists="append", set_aside=set_aside)
    given = [NEWS[0], CONFLICTING, new]
    report = load(anywhere, given, if_exists="append", set_aside=set_aside)
    assert (report.documents, report.unchanged, report.set_aside) == (2, 1, 1)
    assert aside == [f"test:{n}: sentence id 'n5.s1' is already used" for n in (1, 2)]
    assert documents(anywhere) == [*NEWS, new]


# Feeds that overlap: one id several times in a delivery, by the commands, on both engines.


Feed = Callable[..., Path]

WORLD, SPORT = {"id": "w", "text": "A storm."}, {"id": "s", "text": "A match."}
EARLY, LATE = {"id": "both", "text": "A flood."}, {"id": "both", "text": "A flood. It fell."}


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    """Writes entries to a file with this name."""

    def write(name: str, *entries: dict[str, str]) -> Path:
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        return path

    return write


def run(*arguments: object, fails: bool = False) -> str:
    """Runs a command. Gives what it prints, or its error."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)
    assert (result.exit_code != 0) == fails, result.output
    return result.stderr if fails else result.stdout


def texts(where: str) -> dict[str, list[str]]:
    return {document.id: [s.text for s in document.sentences] for document in documents(where)}


def generations(where: str) -> list[dict[str, object]]:
    return json.loads(run("indices", where, "--json"))  # type: ignore[no-any-return]


def test_an_entry_that_two_feeds_share_is_loaded_once(anywhere: str, feed: Feed) -> None:
    world, sport = feed("world", WORLD, EARLY), feed("sport", EARLY, SPORT)
    output = run("load", world, sport, "--index", anywhere)
    assert "1 document repeats the id and the content of an earlier one and was left out: " in output
    assert f"the first is both at {sport}:1" in output
    assert texts(anywhere) == {"w": ["A storm."], "both": ["A flood."], "s": ["A match."]}
    before = generations(anywhere)
    assert "3 unchanged" in run("append", anywhere, world, sport)
    assert generations(anywhere) == before


def test_other_content_under_a_shared_id_is_refused_by_default(anywhere: str, feed: Feed) -> None:
    world, sport = feed("world", WORLD, EARLY), feed("sport", LATE, SPORT)
    problem = f"{sport}:1: document id 'both' is duplicated: first used at {world}:2 with other content"
    assert problem in run("load", world, sport, "--index", anywhere, fails=True)
    run("load", world, "--index", anywhere)
    before = generations(anywhere)
    for paths in ((world, sport), (sport, world)):  # the index has the one, or the other comes first
        assert "--same-id last loads the last one" in run("append", anywhere, *paths, fails=True)
    assert generations(anywhere) == before
    assert texts(anywhere) == {"w": ["A storm."], "both": ["A flood."]}


def test_feeds_with_other_content_settle_on_the_last(anywhere: str, feed: Feed) -> None:
    world, sport = feed("world", WORLD, EARLY), feed("sport", LATE, SPORT)
    run("load", world, "--index", anywhere)
    delivery = ("append", anywhere, world, sport, "--same-id", "last")
    first = run(*delivery)
    assert "1 added, 1 changed, 1 unchanged" in first
    assert "1 document was replaced by a later one with the same id: " in first
    assert f"the first is both at {sport}:1" in first
    settled = generations(anywhere)
    assert [generation["state"] for generation in settled] == ["serving", "kept"]
    assert "3 unchanged" in run(*delivery)
    assert generations(anywhere) == settled
    assert texts(anywhere) == {"w": ["A storm."], "both": ["A flood.", "It fell."], "s": ["A match."]}
    run("rollback", anywhere)
    assert texts(anywhere) == {"w": ["A storm."], "both": ["A flood."]}


def test_a_load_of_the_last_content_is_that_of_the_documents_that_remain(anywhere: str, feed: Feed) -> None:
    world, sport = feed("world", WORLD, EARLY), feed("sport", LATE, SPORT)
    run("load", world, sport, "--index", anywhere, "--same-id", "last")
    assert [document.id for document in documents(anywhere)] == ["w", "both", "s"]
    assert texts(anywhere)["both"] == ["A flood.", "It fell."]


def test_a_name_that_lies_ahead_gives_no_time_of_its_load() -> None:
    """A clock was wrong once, and the names of later loads follow."""
    ahead = generation_name(datetime.now(UTC) + timedelta(days=2_000))
    behind = generation_name(datetime(2020, 5, 1, tzinfo=UTC))
    made = [Generation(name, SERVING, 1, 1, 1).started_at for name in (ahead, behind)]
    assert made == ["", "2020-05-01T00:00:00Z"]
