"""`migrate` on both engines: an index of an older format becomes one of this esr's, and nothing is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import esr
from esr.documents import Document
from esr.engines.elasticsearch.load import sender
from esr.engines.elasticsearch.maintenance.migration import ElasticsearchMigration
from esr.engines.elasticsearch.store import generations as elasticsearch_generations
from esr.engines.elasticsearch.store import meta
from esr.engines.embedded.maintenance import migration as migrating
from esr.engines.factory import LoadOptions, open_delivery, open_generations, open_migration
from esr.engines.index import LoadReport
from esr.engines.segments.writer import folder_writer as embedded
from esr.engines.segments.writer import segment_builder as build
from esr.errors import EsrError, IndexMissing, IndexUnusable, UsageError
from esr.ranking.ranking import Ranking
from tests.engines.elasticsearch.support import document, fresh, load, located
from tests.engines.holding import documents, everything
from tests.engines.test_parity import random_documents
from tests.enrichment.fake_enricher import FakeEnricher
from tests.enrichment.stored_enrichment import enrich, read_enrichment

ROOT = Path(__file__).resolve().parents[2]
NEWS = list(random_documents(0, 40, seed=5))
CAME = document("came", "A flood came.")
FORMATS = ("esr.engines.segments.store.manifest.FORMAT", "esr.engines.elasticsearch.store.templates.FORMAT")
KILLED = """
import os, signal, sys
from esr.cli import main
from esr.engines.elasticsearch.load import sender
from esr.engines.elasticsearch.store import templates
from esr.engines.segments.writer import segment_builder as build
from esr.engines.segments.store import checkpoint
from esr.engines.segments.store import manifest
where = sys.argv[1]
templates.FORMAT = manifest.FORMAT = 2
build.FULL_TERMS, sender.CHUNK_SENTENCES = 100, 9
module, name = (sender, "send_chunk") if where.startswith("http") else (checkpoint, "write")
real, written = getattr(module, name), []
def write(*given):
    if len(written) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    written.append(1)
    return real(*given)
setattr(module, name, write)
main(["migrate", where])
"""


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A segment and a chunk are full after a few documents. Formats are counted from 1 on both engines."""
    for name in FORMATS:
        monkeypatch.setattr(name, 1)
    monkeypatch.setattr(build, "FULL_TERMS", 100)
    monkeypatch.setattr(sender, "CHUNK_SENTENCES", 9)


@pytest.fixture
def format(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes this esr's format another."""

    def set(number: int) -> None:
        for name in FORMATS:
            monkeypatch.setattr(name, number)

    return set


def migrate(where: str, **options: Any) -> LoadReport:
    return open_migration(where, LoadOptions(**options)).run()


def states(where: str) -> list[str]:
    with closing(open_generations(where)) as at:
        return [each.state for each in at.all()]


def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of documents that are written from now on, when all is done; spools are not counted."""
    ids: list[str] = []
    send, add = sender.send_chunk, build.SegmentBuilder.add
    monkeypatch.setattr(
        sender, "send_chunk", lambda c, chunk: (ids.extend(e.document.id for e in chunk), send(c, chunk))[1]
    )
    monkeypatch.setattr(
        build.SegmentBuilder, "add", lambda self, d, *more: (ids.append(d.id), add(self, d, *more))[1]
    )
    return ids


def as_loaded(where: str, some: list[Document], tmp_path: Path) -> bool:
    if not where.startswith("http"):
        load(str(tmp_path / "other"), some)
        return everything(where) == everything(str(tmp_path / "other"))
    with fresh(where.rpartition("/")[0]) as other:
        load(other, some)
        return everything(where) == everything(other)


@pytest.mark.slow
def test_an_older_index_is_refused_until_it_is_migrated(anywhere: str, tmp_path: Path, format: Any) -> None:
    load(anywhere, NEWS)
    assert migrate(anywhere).notes == ["the index has format 1, this esr's: there is nothing to do"]
    assert states(anywhere) == ["serving"]
    format(2)
    for use in (
        lambda: esr.open(anywhere),
        lambda: open_delivery(anywhere, LoadOptions()),
        lambda: load(anywhere, [CAME], if_exists="append"),
    ):
        with pytest.raises(IndexUnusable, match="has index format 1, this esr searches 2: run esr migrate"):
            use()
    assert states(anywhere) == ["serving"]
    report = migrate(anywhere)
    assert (report.documents, report.sentences) == (40, sum(len(each.sentences) for each in NEWS))
    assert states(anywhere) == ["serving", "kept"]
    assert as_loaded(anywhere, NEWS, tmp_path)
    assert migrate(anywhere).notes == ["the index has format 2, this esr's: there is nothing to do"]
    with closing(open_generations(anywhere)) as at:
        at.rollback()
    with pytest.raises(IndexUnusable, match="run esr migrate"):
        esr.open(anywhere)
    format(1)
    assert documents(anywhere) == NEWS


def test_an_older_index_can_be_replaced(anywhere: str, format: Any) -> None:
    load(anywhere, NEWS)
    format(2)
    load(anywhere, [CAME], if_exists="replace")
    assert documents(anywhere) == [CAME]
    assert states(anywhere) == ["serving", "kept"]


def test_a_newer_index_is_not_touched(anywhere: str, format: Any) -> None:
    load(anywhere, NEWS)
    format(0)
    for use in (lambda: esr.open(anywhere), lambda: migrate(anywhere), lambda: states(anywhere)):
        with pytest.raises(IndexUnusable, match="has index format 1, this esr knows 0: use a newer esr"):
            use()


def test_there_is_nothing_to_migrate_where_there_is_no_index(anywhere: str) -> None:
    with pytest.raises(IndexMissing, match="there is no index"):
        migrate(anywhere)


def test_enrichment_is_carried_over(anywhere: str, format: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new segments begin and end at other documents than the old ones."""
    load(anywhere, NEWS)
    with esr.open(anywhere) as searcher:
        enrich(searcher.index, FakeEnricher())
        before = read_enrichment(searcher.index, NEWS), searcher.index.status()["enrichment"]
    held = everything(anywhere)
    format(2)
    monkeypatch.setattr(build, "FULL_TERMS", 170)
    migrate(anywhere)
    with esr.open(anywhere) as searcher:
        assert (read_enrichment(searcher.index, NEWS), searcher.index.status()["enrichment"]) == before
        assert enrich(searcher.index, FakeEnricher()).documents == 0
    assert everything(anywhere) == held


@pytest.mark.slow
def test_one_that_was_killed_is_taken_up(
    anywhere: str, tmp_path: Path, format: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(anywhere, NEWS)
    with esr.open(anywhere) as searcher:
        enrich(searcher.index, FakeEnricher())
    held = everything(anywhere)
    command = [sys.executable, "-c", KILLED, anywhere]
    killed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert everything(anywhere) == held
    format(2)
    assert states(anywhere) == ["broken", "serving"]
    with monkeypatch.context() as patch:
        ids = written(patch)
        migrate(anywhere, prepared=Ranking().mixture())
    again = ids[40:] if anywhere.startswith("http") else ids  # after those of the spool
    assert 0 < len(again) < 40
    assert everything(anywhere) == held
    assert states(anywhere) == ["serving", "kept"]


@pytest.mark.slow
def test_a_delivery_after_a_kill_is_taken_in(anywhere: str, tmp_path: Path, format: Any) -> None:
    load(anywhere, NEWS)
    command = [sys.executable, "-c", KILLED, anywhere]
    killed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    changed = document(NEWS[0].id, "Changed since.")
    open_delivery(anywhere, LoadOptions()).append(located([CAME, changed]))
    format(2)
    migrate(anywhere)
    assert as_loaded(anywhere, [*NEWS[1:], CAME, changed], tmp_path)
    assert "broken" not in states(anywhere)


class TestEmbedded:
    """One writer at a time, by a lock."""

    def test_a_load_meanwhile_waits_its_turn(
        self, tmp_path: Path, format: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        where = str(tmp_path / "index")
        load(where, NEWS)
        format(2)
        real = migrating._documents
        tried = []

        def meanwhile(*given: Any) -> Iterator[Document]:
            for each in real(*given):
                if not tried:
                    tried.append(1)
                    with pytest.raises(IndexUnusable, match=r"another load into .* is running"):
                        load(where, [CAME], if_exists="replace")
                yield each

        monkeypatch.setattr(migrating, "_documents", meanwhile)
        migrate(where)
        assert tried
        assert documents(where) == NEWS

    def test_a_load_that_ends_before_it_begins_is_noticed(self, tmp_path: Path, format: Any) -> None:
        where = str(tmp_path / "index")
        load(where, NEWS)
        format(2)
        begun = open_migration(where, LoadOptions())
        format(1)
        open_delivery(where, LoadOptions()).append(located([CAME]))
        format(2)
        with pytest.raises(EsrError, match="has ended since this one began"):
            begun.run()
        migrate(where)
        assert documents(where) == [*NEWS, CAME]

    def test_a_load_that_was_cut_off_is_not_thrown_away(
        self, tmp_path: Path, format: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        where = str(tmp_path / "index")
        load(where, [CAME])
        with monkeypatch.context() as patch:
            write = embedded.checkpoint.write
            left = iter([1] * 4)

            def stopping(*given: Any) -> None:
                if next(left, None) is None:
                    raise KeyboardInterrupt
                write(*given)

            patch.setattr(embedded.checkpoint, "write", stopping)
            with pytest.raises(KeyboardInterrupt):
                load(where, NEWS, if_exists="replace")
        format(2)
        with pytest.raises(UsageError, match="end it with esr load --resume"):
            migrate(where)
        ids = written(monkeypatch)
        load(where, NEWS, if_exists="replace", resume=True)
        assert 0 < len(ids) < 40
        assert documents(where) == NEWS


@pytest.mark.elasticsearch
class TestElasticsearch:
    """Others write meanwhile."""

    @pytest.fixture
    def where(self, elasticsearch_url: str) -> Iterator[str]:
        with fresh(elasticsearch_url) as where:
            yield where

    @pytest.fixture
    def before_the_end(self, monkeypatch: pytest.MonkeyPatch, format: Any) -> Any:
        """Does something by an esr of the old format, when all has been sent for the first time."""

        def set(action: Any) -> None:
            real = ElasticsearchMigration._count_fingerprints
            actions = iter([action])

            def meanwhile(*given: Any) -> Any:
                for each in actions:
                    format(1)
                    each()
                    format(2)
                return real(*given)

            monkeypatch.setattr(ElasticsearchMigration, "_count_fingerprints", meanwhile)

        return set

    @pytest.mark.parametrize("how", ["append", "replace", "add an index"])
    def test_a_load_meanwhile_is_not_lost(
        self, where: str, how: str, before_the_end: Any, format: Any
    ) -> None:
        load(where, NEWS)
        if how == "append":
            before_the_end(lambda: open_delivery(where, LoadOptions()).append(located([CAME])))
        else:
            if_exists = "replace" if how == "replace" else "append"
            before_the_end(lambda: load(where, [CAME], if_exists=if_exists))
        format(2)
        with pytest.raises(EsrError, match="changed by a load or a delivery during the migration"):
            migrate(where)
        assert "loading" not in states(where)
        migrate(where)
        assert documents(where) == ([CAME] if how == "replace" else [*NEWS, CAME])
        assert states(where) == ["serving", "kept"]

    def test_enrichment_meanwhile_is_taken_in(self, where: str, before_the_end: Any, format: Any) -> None:
        load(where, NEWS)
        found: list[Any] = []

        def action() -> None:
            with esr.open(where) as searcher:
                enrich(searcher.index, FakeEnricher())
                found.append((read_enrichment(searcher.index, NEWS), searcher.index.status()["enrichment"]))

        before_the_end(action)
        format(2)
        migrate(where)
        with esr.open(where) as searcher:
            assert [(read_enrichment(searcher.index, NEWS), searcher.index.status()["enrichment"])] == found
            assert enrich(searcher.index, FakeEnricher()).documents == 0

    def test_the_alias_moves_from_where_it_was_and_from_nowhere_else(
        self, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Another load moves it between the look and the switch."""
        load(where, NEWS)
        with closing(open_generations(where)) as at:
            cluster = at._cluster  # type: ignore[attr-defined]
            first = meta.searchable_loads(cluster)
            load(where, [CAME], if_exists="replace", keep=2)
            load(where, NEWS[:3], if_exists="replace", keep=2)
            kept = meta.all_loads(cluster)[1]
            with monkeypatch.context() as patch:
                patch.setattr(elasticsearch_generations.meta, "aliased_loads", lambda cluster: first)
                with pytest.raises(EsrError):
                    elasticsearch_generations.serve(cluster, kept, instead_of=[first[0].index])
        assert documents(where) == NEWS[:3]

    def test_shards_stay_as_many(self, where: str, format: Any) -> None:
        load(where, NEWS, shards=3)
        format(2)
        migrate(where)
        with closing(open_generations(where)) as at:
            cluster = at._cluster  # type: ignore[attr-defined]
            (serving,) = meta.searchable_loads(cluster)
            found = cluster.client.indices.get_settings(index=serving.index)
        assert found[serving.index]["settings"]["index"]["number_of_shards"] == "3"
