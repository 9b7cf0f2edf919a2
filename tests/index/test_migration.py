"""`migrate` on both engines: an index of an older format gets the present one, and nothing is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.write import actions
from esr.elastic.write.generations import serve
from esr.elastic.write.maintenance import ElasticsearchMigration
from esr.errors import EsrError, IndexMissing, IndexUnusable, UsageError
from esr.folder.format import checkpoint
from esr.folder.write import folder_writer, segment_writer
from esr.index.factory import open_delivery, open_generations, open_migration
from esr.index.questions import Summary
from esr.index.writer import PROFILES, LoadOptions, LoadReport
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.text.document import Document
from tests.index.test_parity import random_documents
from tests.support.elasticsearch import document, fresh, index_settings, load, located
from tests.support.fake_enricher import FakeEnricher
from tests.support.index_contents import documents, enrich, index_contents, read_enrichment, states

ROOT = Path(__file__).resolve().parents[2]
NEWS = list(random_documents(0, 40, seed=5))
ADDED = document("added", "A flood came.")
FORMATS = (
    "esr.folder.format.manifest.FORMAT",
    "esr.elastic.meta.FORMAT",
)
KILLED = """
import os, signal, sys
from esr.cli import main
from esr.elastic import meta
from esr.elastic.write import actions
from esr.folder.format import manifest
from esr.folder.write import folder_writer, segment_writer
where = sys.argv[1]
meta.FORMAT = manifest.FORMAT = 5
segment_writer.FULL_TERMS, actions.CHUNK_SENTENCES = 100, 9
module, name = (actions, "send_chunk") if where.startswith("http") else (folder_writer, "write_checkpoint")
real, written = getattr(module, name), []
def write(*args):
    if len(written) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    written.append(1)
    return real(*args)
setattr(module, name, write)
main(["migrate", where])
"""


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A segment and a chunk are full after a few documents. Both engines have format 4."""
    for name in FORMATS:
        monkeypatch.setattr(name, 4)
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 100)
    monkeypatch.setattr(actions, "CHUNK_SENTENCES", 9)


@pytest.fixture
def format(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets the present format of both engines."""

    def set(number: int) -> None:
        for name in FORMATS:
            monkeypatch.setattr(name, number)

    return set


def migrate(where: str, **options: Any) -> LoadReport:
    return open_migration(where, LoadOptions(**options)).run()


def record_written_ids(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that receives the ids of the documents that are written from now on."""
    ids: list[str] = []
    send, add = actions.send_chunk, segment_writer.SegmentBuilder.add
    monkeypatch.setattr(
        actions, "send_chunk", lambda c, chunk: (ids.extend(e.document.id for e in chunk), send(c, chunk))[1]
    )
    monkeypatch.setattr(
        segment_writer.SegmentBuilder, "add", lambda self, d: (ids.append(d.document.id), add(self, d))[1]
    )
    return ids


def equals_fresh_load(where: str, documents: list[Document], tmp_path: Path) -> bool:
    if not where.startswith("http"):
        load(str(tmp_path / "other"), documents)
        return index_contents(where) == index_contents(str(tmp_path / "other"))
    with fresh(where.rpartition("/")[0]) as other:
        load(other, documents)
        return index_contents(where) == index_contents(other)


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_an_older_index_must_be_migrated(anywhere: str, tmp_path: Path, format: Any) -> None:
    load(anywhere, NEWS)
    assert migrate(anywhere).notes == ["the index already has format 4: there is nothing to do"]
    assert states(anywhere) == ["serving"]
    format(5)
    for use in (
        lambda: open_searcher(anywhere),
        lambda: open_delivery(anywhere, LoadOptions()),
        lambda: load(anywhere, [ADDED], if_exists="append"),
    ):
        with pytest.raises(IndexUnusable, match="has index format 4, this esr searches 5: run esr migrate"):
            use()
    assert states(anywhere) == ["serving"]
    report = migrate(anywhere)
    assert (report.documents, report.sentences) == (40, sum(len(d.sentences) for d in NEWS))
    assert states(anywhere) == ["serving", "kept"]
    assert equals_fresh_load(anywhere, NEWS, tmp_path)
    assert migrate(anywhere).notes == ["the index already has format 5: there is nothing to do"]
    with closing(open_generations(anywhere)) as generations:
        generations.rollback()
    with pytest.raises(IndexUnusable, match="run esr migrate"):
        open_searcher(anywhere)
    format(4)
    assert documents(anywhere) == NEWS


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_an_older_index_can_be_replaced(anywhere: str, format: Any) -> None:
    load(anywhere, NEWS)
    format(5)
    load(anywhere, [ADDED], if_exists="replace")
    assert documents(anywhere) == [ADDED]
    assert states(anywhere) == ["serving", "kept"]


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_a_newer_index_is_not_touched(anywhere: str, format: Any) -> None:
    load(anywhere, NEWS)
    format(3)
    for use in (lambda: open_searcher(anywhere), lambda: migrate(anywhere), lambda: states(anywhere)):
        with pytest.raises(IndexUnusable, match="has index format 4, this esr knows 3: use a newer esr"):
            use()


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_a_migration_needs_an_index(anywhere: str) -> None:
    with pytest.raises(IndexMissing, match="there is no index"):
        migrate(anywhere)


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
def test_a_migration_retains_enrichment(anywhere: str, format: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new segments start and end at other documents than the old ones."""
    load(anywhere, NEWS)
    with open_searcher(anywhere) as searcher:
        enrich(searcher.index, FakeEnricher())
        before = read_enrichment(searcher.index, NEWS), searcher.index.status(Summary())["enrichment"]
    contents = index_contents(anywhere)
    format(5)
    monkeypatch.setattr(segment_writer, "FULL_TERMS", 170)
    migrate(anywhere)
    with open_searcher(anywhere) as searcher:
        assert (
            read_enrichment(searcher.index, NEWS),
            searcher.index.status(Summary())["enrichment"],
        ) == before
        assert enrich(searcher.index, FakeEnricher()).documents == 0
    assert index_contents(anywhere) == contents


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
@pytest.mark.endurance
def test_a_killed_migration_is_resumed(
    anywhere: str, tmp_path: Path, format: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(anywhere, NEWS)
    with open_searcher(anywhere) as searcher:
        enrich(searcher.index, FakeEnricher())
    contents = index_contents(anywhere)
    command = [sys.executable, "-c", KILLED, anywhere]
    killed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert index_contents(anywhere) == contents
    format(5)
    assert states(anywhere) == ["broken", "serving"]
    with monkeypatch.context() as patch:
        ids = record_written_ids(patch)
        migrate(anywhere, precomputed_mixture=Ranking().mixture())
    again = ids[40:] if anywhere.startswith("http") else ids  # after those of the spool
    assert 0 < len(again) < 40
    assert index_contents(anywhere) == contents
    assert states(anywhere) == ["serving", "kept"]


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
@pytest.mark.endurance
def test_a_migration_includes_a_delivery_after_it_was_killed(
    anywhere: str, tmp_path: Path, format: Any
) -> None:
    load(anywhere, NEWS)
    command = [sys.executable, "-c", KILLED, anywhere]
    killed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    changed = document(NEWS[0].id, "Changed since.")
    open_delivery(anywhere, LoadOptions()).append(located([ADDED, changed]))
    format(5)
    migrate(anywhere)
    assert equals_fresh_load(anywhere, [*NEWS[1:], ADDED, changed], tmp_path)
    assert "broken" not in states(anywhere)


@pytest.mark.slow
@pytest.mark.usefixtures("small_parts")
class TestEmbedded:
    """One writer at a time, by a lock."""

    def test_a_load_during_a_migration_is_refused(
        self, tmp_path: Path, format: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        where = str(tmp_path / "index")
        load(where, NEWS)
        format(5)
        real = folder_writer.stored_documents
        tried = []

        def meanwhile(*args: Any) -> Iterator[Document]:
            for d in real(*args):
                if not tried:
                    tried.append(1)
                    with pytest.raises(IndexUnusable, match=r"another load into .* is running"):
                        load(where, [ADDED], if_exists="replace")
                yield d

        monkeypatch.setattr(folder_writer, "stored_documents", meanwhile)
        migrate(where)
        assert tried
        assert documents(where) == NEWS

    def test_a_migration_notices_a_load_that_finished_before_it_started(
        self, tmp_path: Path, format: Any
    ) -> None:
        where = str(tmp_path / "index")
        load(where, NEWS)
        format(5)
        migration_before = open_migration(where, LoadOptions())
        format(4)
        open_delivery(where, LoadOptions()).append(located([ADDED]))
        format(5)
        with pytest.raises(EsrError, match="has finished since this one started"):
            migration_before.run()
        migrate(where)
        assert documents(where) == [*NEWS, ADDED]

    def test_a_migration_does_not_discard_an_interrupted_load(
        self, tmp_path: Path, format: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        where = str(tmp_path / "index")
        load(where, [ADDED])
        with monkeypatch.context() as patch:
            write = checkpoint.write_checkpoint
            left = iter([1] * 4)

            def interruptible(*args: Any) -> Any:
                if next(left, None) is None:
                    raise KeyboardInterrupt
                return write(*args)

            patch.setattr(folder_writer, "write_checkpoint", interruptible)
            with pytest.raises(KeyboardInterrupt):
                load(where, NEWS, if_exists="replace")
        format(5)
        with pytest.raises(UsageError, match="finish it with esr load --resume"):
            migrate(where)
        ids = record_written_ids(monkeypatch)
        load(where, NEWS, if_exists="replace", resume=True)
        assert 0 < len(ids) < 40
        assert documents(where) == NEWS


@pytest.mark.slow
@pytest.mark.elasticsearch
@pytest.mark.usefixtures("small_parts")
class TestElasticsearch:
    """Others write during the migration."""

    @pytest.fixture
    def where(self, elasticsearch_url: str) -> Iterator[str]:
        with fresh(elasticsearch_url) as where:
            yield where

    @pytest.fixture
    def before_the_end(self, monkeypatch: pytest.MonkeyPatch, format: Any) -> Any:
        """Runs an action of an esr of the old format once everything has been sent."""

        def set(action: Any) -> None:
            real = ElasticsearchMigration.count_fingerprints
            actions = iter([action])

            def meanwhile(*args: Any) -> Any:
                for action in actions:
                    format(4)
                    action()
                    format(5)
                return real(*args)

            monkeypatch.setattr(ElasticsearchMigration, "count_fingerprints", meanwhile)

        return set

    @pytest.mark.endurance
    @pytest.mark.parametrize("operation", ["append", "replace", "add an index"])
    def test_a_load_during_a_migration_is_not_lost(
        self, where: str, operation: str, before_the_end: Any, format: Any
    ) -> None:
        load(where, NEWS)
        if operation == "append":
            before_the_end(lambda: open_delivery(where, LoadOptions()).append(located([ADDED])))
        else:
            if_exists = "replace" if operation == "replace" else "append"
            before_the_end(lambda: load(where, [ADDED], if_exists=if_exists))
        format(5)
        with pytest.raises(EsrError, match="changed by a load or a delivery during the migration"):
            migrate(where)
        assert "loading" not in states(where)
        migrate(where)
        assert documents(where) == ([ADDED] if operation == "replace" else [*NEWS, ADDED])
        assert states(where) == ["serving", "kept"]

    def test_a_migration_includes_enrichment_stored_during_it(
        self, where: str, before_the_end: Any, format: Any
    ) -> None:
        load(where, NEWS)
        stored_enrichment: list[Any] = []

        def action() -> None:
            with open_searcher(where) as searcher:
                enrich(searcher.index, FakeEnricher())
                stored_enrichment.append(
                    (read_enrichment(searcher.index, NEWS), searcher.index.status(Summary())["enrichment"])
                )

        before_the_end(action)
        format(5)
        migrate(where)
        with open_searcher(where) as searcher:
            assert [
                (read_enrichment(searcher.index, NEWS), searcher.index.status(Summary())["enrichment"])
            ] == stored_enrichment
            assert enrich(searcher.index, FakeEnricher()).documents == 0

    def test_the_alias_is_switched_only_if_nobody_moved_it(
        self, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Another load moves it between the check and the switch."""
        load(where, NEWS)
        with closing(Cluster(where)) as cluster:
            first_loads = meta.searchable_loads(cluster)
            load(where, [ADDED], if_exists="replace", keep=2)
            load(where, NEWS[:3], if_exists="replace", keep=2)
            kept = meta.all_loads(cluster)[1]
            with monkeypatch.context() as patch:
                patch.setattr(meta, "aliased_loads", lambda cluster: first_loads)
                with pytest.raises(EsrError):
                    serve(cluster, kept, instead_of=[first_loads[0].index])
        assert documents(where) == NEWS[:3]

    @pytest.mark.parametrize("profile", PROFILES)
    def test_a_migration_retains_the_profile(self, where: str, format: Any, profile: str) -> None:
        load(where, NEWS, profile=profile)
        before = {name: index_settings(where)[0].get(name) for name in ("codec", "sort")}
        format(5)
        migrate(where, precomputed_mixture=Ranking().mixture())
        assert {name: index_settings(where)[0].get(name) for name in ("codec", "sort")} == before

    def test_a_migration_retains_the_number_of_shards(self, where: str, format: Any) -> None:
        load(where, NEWS, shards=3)
        format(5)
        migrate(where)
        (settings,) = index_settings(where)
        assert settings["number_of_shards"] == "3"

    def test_an_index_of_an_older_server_is_made_anew(
        self, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        load(where, NEWS[:5])
        with closing(Cluster(where)) as cluster:
            major, _ = cluster.version()
        monkeypatch.setattr(Cluster, "version", lambda cluster: (major + 1, 0))
        assert migrate(where).documents == 5
        assert states(where) == ["serving", "kept"]
        assert documents(where) == NEWS[:5]

    @pytest.mark.parametrize("replicas", [None, 2])
    def test_a_migration_retains_the_number_of_replicas(
        self, where: str, format: Any, replicas: int | None
    ) -> None:
        load(where, NEWS, replicas=replicas)
        format(5)
        migrate(where)
        (settings,) = index_settings(where)
        expected = ("0-1", "0") if replicas is None else ("false", "2")
        assert (settings["auto_expand_replicas"], settings["number_of_replicas"]) == expected
